// Chooses how the cube core loads the operands of products: whole into its staging memory, or piece
// by piece along the contracted axis.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Makes that choice for the loads of a grid. These are loaded in pieces: operands without a static
/// bound; those that take more than a fourth of the memory; as many of the largest others as the
/// options of the grid require (`streamed`); and a slot of a ring that is multiplied by such an
/// operand. Operands from arrays that the kernel stores to are loaded whole at the place of the
/// read. False after an error, which is reported.
bool markOperands(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Verifies that every load that a product reads has the attribute, and a static bound if it is
/// loaded whole.
mlir::LogicalResult verifyOperands(ir::ParallelOp grid);

/// Whether a load is done in pieces.
bool isInPieces(mlir::Operation *load);

/// Whether a loaded value is read transposed by products; nothing if no product reads it.
std::optional<bool> productUse(mlir::Value value, bool transposed = false);

} // namespace ptl::block
