// Tiles of grids that compute products: how large they are is chosen when the code runs.
//
// The packed operands of a tile serve that tile alone, so larger tiles pack less, but there have to be enough of them for all
// threads. At the tile level such a grid has the least tiles; any larger ones mean the same.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Replaces the steps of the last two axes of a grid that was made of products of whole arrays by what the runtime chooses. The steps
/// of other grids, among them the author's and those of a schedule, stay.
void chooseProductTiles(Lowering &l, ir::ParallelOp op, llvm::SmallVectorImpl<mlir::Value> &steps);

/// What computes the length of a tile along an axis of the grid: the least of what is left from its position on and of the step.
/// Null if it is not known.
mlir::arith::MinSIOp tileLengthOf(ir::ParallelOp op, size_t axis);

/// Binds the lengths of the tile at the point whose positions are bound, where `steps` are not those of the grid.
void settleTileLengths(Lowering &l, ir::ParallelOp op, llvm::ArrayRef<mlir::Value> steps);

} // namespace ptl::cpu
