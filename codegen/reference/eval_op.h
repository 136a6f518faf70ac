// Evaluates uses of built-ins: evaluates the arguments, then applies the operation to their values.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of a built-in; none for one that has only an effect, such as `print`. An error without
/// a source location of its own is reported at the expression.
Value evalOp(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
