// Arithmetic on positions and lengths.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// An operation for which `isPositionOp` holds, in the form of source code: `a - b` for `a + -1 *
/// b`, and operands of `min` and `max` in a canonical order.
Expression positionOpText(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
