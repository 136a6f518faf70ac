// Tiles of grids that fold or scan columns: how wide they are is chosen when the code runs.
//
// Such a tile is read row by row, and memory gives long pieces of rows faster than short ones: a tile is as wide as a row of partial
// results fits a cache, but there have to be enough tiles for all threads. At the tile level such a grid has narrow tiles;
// wider ones compute the same.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Replaces the step of the last axis of a grid that was made of whole arrays, and whose body goes once through columns, by a wider
/// one. The steps of other grids, among them the author's and those of a schedule, stay. `settleTileLengths` binds the lengths.
void chooseColumnTiles(Lowering &l, ir::ParallelOp op, llvm::SmallVectorImpl<mlir::Value> &steps);

} // namespace ptl::cpu
