// Executes declarations of variables and assignments.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Binds the names that a `let` or `var` declares: to its value, destructured if there are several
/// names, or to uninitialised memory.
void execLet(RunState &run, const LetStmt &stmt);

/// Assigns to a variable, or to elements of an array; values are broadcast to their shape.
/// Positions are checked.
void execAssign(RunState &run, const AssignStmt &stmt);

} // namespace ptl::reference
