// The numbers of a source that may be changed.
#pragma once

#include "compile/tune/source_moves.h"

namespace ptl {

/// The value of a tunable that holds without a request: that of the schedule for the machine or for
/// all machines, otherwise the default.
int64_t presentValue(const CheckedProgram &program, const std::string &machine,
                     const CallableDecl &decl, const Tunable &tunable);

/// The numbers of an entry and of what it calls, if they are in the root file: tile sizes,
/// tunables, depths of loops.
std::vector<SourceNumber> sourceNumbers(const CostQuestion &question);

} // namespace ptl
