// Executes declarations of variables and assignments.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Binds what a `let` or `var` declares: to its value, taken apart if it names several, or to memory
/// that nothing has written.
void execLet(RunState &run, const LetStmt &stmt);

/// Assigns to a variable, or to elements of an array, with values repeated to their shape. Positions
/// are checked.
void execAssign(RunState &run, const AssignStmt &stmt);

} // namespace ptl::reference
