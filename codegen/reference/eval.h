// Evaluates expressions of the checked tree. Whatever is wrong with their values stops the run, at
// the expression that is to blame.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of any expression that has one, computed with every check on.
Value eval(RunState &run, const Expr &expr);

/// The value of the last expression of a block, which is a step like the statements before it.
Value evalBlockValue(RunState &run, const Expr &value);

/// The value of an expression whose type is an integer scalar.
int64_t evalInt(RunState &run, const Expr &expr);

/// The value of a condition.
bool evalBool(RunState &run, const Expr &expr);

} // namespace ptl::reference
