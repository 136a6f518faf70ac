// Places that the source gives tiles, against those that they have.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Where a tile of a grid lies: a value that is needed in two places lies in both.
llvm::SmallVector<ir::Place> placesOf(mlir::Value tile, const struct CoreAssignment &cores);

/// Reports tiles that are pinned to a place (`ptl.cast`) where they do not lie, and takes the pins
/// of the others away. False if there are errors.
bool takePlaces(ir::ParallelOp grid, const Machine &machine, const Report &report);

} // namespace ptl::block
