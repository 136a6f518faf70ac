// Evaluates expressions of the checked tree. An error in their values stops the run at the
// expression that causes it.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of any expression that has one, with all run-time checks.
Value eval(RunState &run, const Expr &expr);

/// The value of the last expression of a block, which observers see as a step like the statements
/// before it.
Value evalBlockValue(RunState &run, const Expr &value);

/// The value of an expression whose type is an integer scalar.
int64_t evalInt(RunState &run, const Expr &expr);

/// The value of a condition.
bool evalBool(RunState &run, const Expr &expr);

} // namespace ptl::reference
