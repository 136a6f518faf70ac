// Chooses the axis along which the tiles of a kernel are cut, and the number of parts.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Cuts the tiles of a grid into parts as the options require, and returns the new grid: the same
/// one if the options require nothing, null if the tiles cannot be cut. Only tiles that products
/// use are cut; the author is responsible for other tiles. `told` describes what was cut.
ir::ParallelOp cutTiles(ir::ParallelOp grid, const LowerOptions &options,
                        std::optional<LedgerParts> &told);

/// The ledger's entry for tiles that are cut along an axis into parts of a multiple of `unit`
/// positions.
LedgerParts describeParts(ir::ParallelOp grid, mlir::StringAttr axis, int64_t parts, int64_t unit,
                          bool insideLoops);

} // namespace ptl::block
