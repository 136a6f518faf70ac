// Compares the memories that the source requests for tiles with the actual ones.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// The memories of a tile of a grid: a value that is needed in two memories is in both.
llvm::SmallVector<ir::Place> placesOf(mlir::Value tile, const struct CoreAssignment &cores);

/// Reports tiles that are pinned to a memory (`ptl.cast`) in which they are not, and removes the
/// other pins. False if there are errors.
bool takePlaces(ir::ParallelOp grid, const Machine &machine, const Report &report);

} // namespace ptl::block
