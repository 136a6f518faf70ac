// Describes why a condition does not hold.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// ": `a` is 1, `b` is 2": the values in a condition that are worth reporting, which are evaluated
/// again; empty if there are none.
std::string comparedText(RunState &run, const Expr &condition);

} // namespace ptl::reference
