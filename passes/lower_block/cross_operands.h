// Operands of products that the vector cores make, as values of their own.
#pragma once

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether the operation hands a value to the cube core.
inline bool isHanded(mlir::Operation *op) { return attrs::handed.isOn(op); }

/// Whether the operation only shows another side of a value, which stays where it is.
inline bool isViewOfOperand(mlir::Operation *op) {
  return mlir::isa<ir::TransposeOp, ir::CastOp, ir::NewAxisOp>(op) && !isHanded(op);
}

/// Names what crosses to the cube core in a grid: an operand that is no matrix in global memory,
/// and that is a variable of a loop, a product or another side of a value (a transpose, an added
/// axis), is cast to a value of its own where it is made. A vector in global memory that is a
/// column becomes the transpose of a row, as memory has it.
void handOperands(ir::ParallelOp grid);

/// Hands each operand of each product over once more, right before the product: what shares a queue
/// with others is read before the next one comes.
void handBeforeUse(ir::ParallelOp grid);

} // namespace ptl::block
