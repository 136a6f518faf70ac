// Evaluates uses of built-ins: from the arguments of the tree to the operations on values.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of a built-in; none for one that is only an effect, as `print`. What stops the run
/// without a place of its own is shown at the expression.
Value evalOp(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
