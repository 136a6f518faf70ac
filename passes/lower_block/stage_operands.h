// Chooses how the cube core gets the operands of products that it loads: whole in its staging
// memory, or piece by piece as the product goes along them.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Chooses it for the loads of a grid. Operands without a bound, those that take more than a fourth
/// of the memory, and as many of the largest others as the options of the grid require (`streamed`)
/// go in pieces, and so does what the vector cores have put into a slot of a ring that is multiplied
/// with such an operand. Arrays that the kernel stores to are loaded where they are read, so they go whole.
/// False after an error, which is reported.
bool markOperands(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Checks that every load that a product reads has the attribute, and a bound if it is loaded
/// whole.
mlir::LogicalResult verifyOperands(ir::ParallelOp grid);

/// Whether a load goes in pieces.
bool isInPieces(mlir::Operation *load);

/// Whether a loaded value is read transposed by products; nothing if no product reads it.
std::optional<bool> productUse(mlir::Value value, bool transposed = false);

} // namespace ptl::block
