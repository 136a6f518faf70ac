// Arithmetic on positions and lengths.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// An operation that `isPositionOp` holds for, as the source would write it: `a - b` for `a + -1 * b`,
/// and operands of `min` and `max` in one order.
Expression positionOpText(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
