// Binds the arguments of an entry, which has no caller that has computed its dimensions.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Determines the dimensions, the element types and the axes of `..` in the signature of the
/// frame's declaration from the arguments and the options of the run; then binds its parameters and
/// tunables. A missing argument takes the default of its parameter. Values are moved out of `args`.
/// Arguments that do not fit stop the run.
void bindEntry(RunState &run, const CallableDecl &decl, std::vector<Value> &args);

} // namespace ptl::reference
