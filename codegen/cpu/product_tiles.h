// Tile sizes of grids that compute products, chosen at run time.
//
// The packed operands of a tile are used by that tile alone, so larger tiles pack less, but there
// must be enough tiles for all threads. At the tile level such a grid has the smallest tiles; any
// larger ones compute the same.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Replaces the steps of the last two axes of a grid that was made from products of whole arrays by
/// steps that the runtime chooses. The steps of other grids, such as those that the author or a
/// schedule wrote, stay.
void chooseProductTiles(Lowering &l, ir::ParallelOp op, llvm::SmallVectorImpl<mlir::Value> &steps);

/// The operation that computes the length of a tile along an axis of the grid: the minimum of the
/// step and the remainder. Null if there is no such operation.
mlir::arith::MinSIOp tileLengthOf(ir::ParallelOp op, size_t axis);

/// Binds the tile lengths at the point whose positions are bound, if `steps` differ from those of
/// the grid.
void settleTileLengths(Lowering &l, ir::ParallelOp op, llvm::ArrayRef<mlir::Value> steps);

} // namespace ptl::cpu
