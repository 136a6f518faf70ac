// Gives operands of products that the vector cores compute a value of their own.
#pragma once

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether the operation passes a value to the cube core.
inline bool isHanded(mlir::Operation *op) { return attrs::handed.isOn(op); }

/// Whether the result is a view of the operand in the same buffer.
inline bool isViewOfOperand(mlir::Operation *op) {
  return mlir::isa<ir::TransposeOp, ir::CastOp, ir::NewAxisOp>(op) && !isHanded(op);
}

/// Inserts a cast for each operand that passes to the cube core, where it is defined. This is
/// necessary for an operand that is not a matrix in global memory and is a loop variable, a product
/// or a view of a value (a transpose, a new axis). A vector in global memory that is used as a
/// column becomes the transpose of a row, which is its layout in memory.
void handOperands(ir::ParallelOp grid);

/// Adds another cast of each operand directly before its product: a value that shares a queue with
/// others must be popped before the next one arrives.
void handBeforeUse(ir::ParallelOp grid);

} // namespace ptl::block
