// The requirements that must hold before the body of a declaration is executed. A violated one
// stops the run.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Requires that the interpreter can execute the declaration (`unsupportedReason`). `span` is the
/// call; without one the failure is reported at the declaration.
void requireSupported(const CallableDecl &decl, Span span);

/// Checks every `where` of the frame's declaration. A failure is reported at the call, if there is
/// one, with the requirement as its cause and the values that the condition mentions.
void checkWheres(RunState &run, const CallableDecl &decl, Span callSpan);

/// Checks that the dimensions that the caller bound agree with the shapes of the arguments. They
/// always do, unless the compiler has an error.
void checkShapes(const RunState &run, const CallableDecl &decl);

} // namespace ptl::reference
