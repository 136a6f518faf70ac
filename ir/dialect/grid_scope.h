// The values that a grid uses from outside.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::ir {

/// Whether an array that `op` reads is defined outside the grid that contains `op`: it lies in
/// global memory, and boxes of it are loaded.
inline bool isOutsideGrid(mlir::Operation *op, mlir::Value array) {
  auto grid = op->getParentOfType<ParallelOp>();
  return grid && !grid->isAncestor(array.getParentBlock()->getParentOp());
}

} // namespace ptl::ir
