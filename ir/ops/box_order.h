// The order in which the memories of a chip hold the elements of a tile.
#pragma once

#include "frontend/base/round_up.h"

#include <cstdint>

namespace ptl {

/// Elements lie in boxes (fractals) or, without boxes, along rows or columns.
struct BoxOrder {
  bool isBoxed = false;
  bool outerByRows = true; ///< boxes, or elements without boxes, follow each other along rows
  bool innerByRows = true; ///< elements inside a box do
  int32_t fractal = 512;   ///< bytes of a box
};

/// Rows and columns of a box.
struct BoxShape {
  int64_t rows, cols;
};

/// 16 rows of 32 bytes, transposed where elements follow each other along columns; 16 x 16 elements
/// in the accumulator (fractal 1024), 16 x 2 for scales (fractal 32).
constexpr BoxShape boxShape(const BoxOrder &order, int64_t elementBytes) {
  int64_t wide = order.fractal == 1024 ? 16 : order.fractal == 32 ? 2 : 32 / elementBytes;
  return order.innerByRows ? BoxShape{16, wide} : BoxShape{wide, 16};
}

/// The byte offset of element (row, col) from the start of a buffer of rows x cols elements.
constexpr int64_t elementOffset(const BoxOrder &order, int64_t elementBytes, int64_t rows,
                                int64_t cols, int64_t row, int64_t col) {
  if (!order.isBoxed)
    return elementBytes * (order.outerByRows ? row * cols + col : col * rows + row);
  BoxShape box = boxShape(order, elementBytes);
  // The number of boxes is rounded up, since a partial box takes the room of a whole one.
  int64_t downs = countCovering(rows, box.rows), acrosses = countCovering(cols, box.cols);
  // The box, then the place in it: each has an order of its own.
  int64_t boxRow = row / box.rows, boxCol = col / box.cols;
  int64_t index = order.outerByRows ? boxRow * acrosses + boxCol : boxCol * downs + boxRow;
  int64_t innerRow = row % box.rows, innerCol = col % box.cols;
  int64_t inner =
      order.innerByRows ? innerRow * box.cols + innerCol : innerCol * box.rows + innerRow;
  return elementBytes * (index * box.rows * box.cols + inner);
}

} // namespace ptl
