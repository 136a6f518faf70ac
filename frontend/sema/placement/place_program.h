// Places the arrays of a program.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl {

/// Places all values of a program without errors whose header places arrays. Nothing after
/// reporting a contradiction, or an operation without a rule. Nothing, without a report, if the
/// body of a `fn` that it calls has not been checked (`check_chunk.h`).
std::optional<PlacedProgram> placeProgram(const CheckedProgram &program, const Tree &tree,
                                          const CallableDecl &decl, DiagnosticSink &sink);

PlacedAsFar placeAsFar(const CheckedProgram &program, const Tree &tree, const CallableDecl &decl,
                       DiagnosticSink &sink);

} // namespace ptl
