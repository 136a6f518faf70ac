// Rows of tiles, where they lie.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// A slice that is a row, or some rows, of a matrix, as a window of its buffer: each row begins at a whole block. Nothing for other parts, for
/// those that others than elementwise operations read, and of tiles in slots that are given back when the tile is not read any more.
std::optional<Tile> rowWindow(KernelContext &c, mlir::Operation *op, const Tile &source);

} // namespace ptl::block
