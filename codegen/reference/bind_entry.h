// Binds the arguments of an entry, of which no caller has computed dimensions.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Binds what the signature of the frame's declaration leaves open, dimensions, element types and
/// `..`, by the arguments and by the options of the run; then its parameters and its tunables. A
/// missing argument, which is none, takes the default of its parameter. Values are moved out of
/// `args`. Arguments that do not fit stop the run.
void bindEntry(RunState &run, const CallableDecl &decl, std::vector<Value> &args);

} // namespace ptl::reference
