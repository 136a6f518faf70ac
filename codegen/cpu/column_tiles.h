// Tile widths of grids that reduce or scan columns, chosen at run time.
//
// Such a tile is read row by row, and memory delivers long pieces of a row faster than short
// ones. So a tile is as wide as a row of partial results fits a cache, as long as there are enough
// tiles for all threads. At the tile level such a grid has narrow tiles; wider ones compute the
// same.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Replaces the step of the grid's last axis by a wider one, if the grid was made from whole arrays
/// and its body passes once through columns. The steps of other grids, such as those that the
/// author or a schedule wrote, stay. `settleTileLengths` binds the lengths.
void chooseColumnTiles(Lowering &l, ir::ParallelOp op, llvm::SmallVectorImpl<mlir::Value> &steps);

} // namespace ptl::cpu
