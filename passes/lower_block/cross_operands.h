// Makes operands of products that the vector cores compute into values of their own.
#pragma once

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether the operation hands a value to the cube core.
inline bool isHanded(mlir::Operation *op) { return attrs::handed.isOn(op); }

/// Whether the result is a view of the operand, which stays where it is.
inline bool isViewOfOperand(mlir::Operation *op) {
  return mlir::isa<ir::TransposeOp, ir::CastOp, ir::NewAxisOp>(op) && !isHanded(op);
}

/// Casts operands that cross to the cube core to values of their own where they are made. This is
/// necessary for an operand that is no matrix in global memory and that is a variable of a loop, a
/// product or a view of a value (a transpose, an added axis). A vector in global memory that is a
/// column becomes the transpose of a row, which is its layout in memory.
void handOperands(ir::ParallelOp grid);

/// Adds another cast of each operand right before its product: a value that shares a queue with
/// others has to be read before the next one arrives.
void handBeforeUse(ir::ParallelOp grid);

} // namespace ptl::block
