// Chooses how products are tiled along their contracted axis: through the operand buffers and,
// where an operand is loaded piece by piece, from global memory.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// The name of the element type of a product's operands, by which machines have their costs.
std::string_view operandName(mlir::Type element);

/// The element type of the operands of the product that made a value, or was added to it last; null
/// if no product did.
mlir::Type factorsOf(mlir::Value sum);

/// Whether a sum of products, or what follows from it on the cube core, goes to the vector cores.
bool isHanded(const CoreAssignment &cores, mlir::Value sum);

/// Chooses both for the products of a grid, by predicted time, or as a schedule requires (`l0`).
/// False after an error, which is reported, if the schedule cannot be satisfied.
bool markProducts(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Verifies that every product of matrices with bounds has a step of whole boxes, and a piece if an
/// operand is loaded in pieces.
mlir::LogicalResult verifyProducts(ir::ParallelOp grid);

/// The tiling of a product; 0 where there is no attribute.
struct ProductCut {
  int64_t step = 0, piece = 0;
};
ProductCut cutOf(mlir::Operation *product);

} // namespace ptl::block
