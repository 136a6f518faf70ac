// Represents windows into tiles, and slots, as tiles of their own.
#pragma once

#include "ir/dialect/pto_dialect.h"

namespace ptl::pto {

/// The distance in bytes between neighbouring rows, and between neighbouring columns, of a tile;
/// for boxed layouts it holds at multiples of the box.
struct WindowStrides {
  int64_t row, col;
};
WindowStrides windowStrides(TileBufType tile);

/// The type of the tile in whose buffer a window lies; of a window of a window, that of the
/// outermost one's source. Its strides are those of the window.
TileBufType bufferTypeOf(SubsetOp window);

/// The type of a tile that represents a window. Its buffer extends as far as `bufferTypeOf` in the
/// direction in which elements are contiguous, so that the strides are equal.
TileBufType windowType(SubsetOp window);

/// Bytes from one slot of a multi-tile to the next.
int64_t slotStride(MultiTileBufType type, int64_t alignment);

/// Bytes from one slot of a queue to the next, as the library counts them (its SlotSize): where the
/// slots belong to the vector cores, each holds that core's part of a tile.
int64_t slotStride(mlir::Operation *pipe);

} // namespace ptl::pto
