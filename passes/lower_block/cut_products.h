// How far products go along their contracted axis at a time: through the operand buffers, and where
// an operand is loaded piece by piece, from global memory.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Decides both for the products of a grid, by predicted time, or as a schedule says (`l0`). False
/// after an error, which is reported: what the schedule says cannot be.
bool markProducts(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Whether every product of matrices with bounds has a step of whole boxes, and a piece if an
/// operand goes in pieces; errors if not.
mlir::LogicalResult verifyProducts(ir::ParallelOp grid);

/// How a product is cut; 0: nothing is said.
struct ProductCut {
  int64_t step = 0, piece = 0;
};
ProductCut cutOf(mlir::Operation *product);

} // namespace ptl::block
