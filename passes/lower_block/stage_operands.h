// How the cube core has the operands of products that it loads: whole in its staging memory, or
// piece by piece as products go along them.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Decides it for the loads of a grid: what has no bound, what takes more than a fourth of the
/// memory, and as many of the largest others as the choices of the grid say (`streamed`) go in
/// pieces. What the kernel stores to is loaded where it is read, so whole. False after an error,
/// which is reported.
bool markOperands(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Whether every load that a product reads says it, and has a bound if it is loaded whole.
mlir::LogicalResult verifyOperands(ir::ParallelOp grid);

/// Whether a load goes in pieces.
bool isInPieces(mlir::Operation *load);

/// Whether a loaded value is read transposed by products; nothing if no product reads it.
std::optional<bool> productUse(mlir::Value value, bool transposed = false);

} // namespace ptl::block
