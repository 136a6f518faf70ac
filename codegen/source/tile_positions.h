// Arithmetic on positions and lengths.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// An operation for which `isPositionOp` holds, in the form of source code: `a - b` for `a + -1 *
/// b`, and operands of `min` and `max` in a canonical order.
Expression positionOpText(BodyCode &code, mlir::Operation *op);

/// The text of an operation as an `int`. Integers of other types index as they are, but elsewhere
/// their arithmetic, and the type of what they are given to, would be another.
Expression asPosition(mlir::Operation *op, const Expression &text);

/// A value where not its use says that it is a position: as an operand of arithmetic, the value of an
/// arm or of a variable.
Expression positionText(BodyCode &code, mlir::Value value);

} // namespace ptl::source
