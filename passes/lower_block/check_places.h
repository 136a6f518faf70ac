// Compares the places that the source gives to tiles with those that they have.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// The places of a tile of a grid: a value that is needed in two places is in both.
llvm::SmallVector<ir::Place> placesOf(mlir::Value tile, const struct CoreAssignment &cores);

/// Reports tiles that are pinned to a place (`ptl.cast`) where they are not, and removes the pins
/// of the others. False if there are errors.
bool takePlaces(ir::ParallelOp grid, const Machine &machine, const Report &report);

} // namespace ptl::block
