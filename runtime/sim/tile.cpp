#include "runtime/sim/tile.h"

#include "frontend/base/round_up.h"

namespace ptl::rt::sim {

int64_t Tile::bufferBytes() const {
  int64_t r = bufferRows, c = bufferCols;
  if (layout.inner != ElementOrder::None) {
    BoxShape box = boxShape(layout, elem);
    r = roundUp(r, box.rows);
    c = roundUp(c, box.cols);
  }
  return r * c * elemBytes(elem);
}

int64_t View::rows() const {
  if (isBoxed())
    return shape[2] * shape[3];
  int64_t product = 1;
  for (int i = 0; i + 1 < rank; ++i)
    product *= shape[i];
  return product;
}

int64_t View::cols() const {
  if (isBoxed())
    return shape[1] * shape[4];
  return rank ? shape[rank - 1] : 1;
}

int64_t View::elementOffset(int64_t row, int64_t col) const {
  if (isBoxed())
    return col / shape[4] * strides[1] + row / shape[3] * strides[2] + row % shape[3] * strides[3] +
           col % shape[4] * strides[4];
  int64_t sum = rank ? col * strides[rank - 1] : 0;
  for (int i = rank - 2; i >= 0; --i) {
    // The outermost axis takes what is left of the row's number, and is not bounded here.
    sum += (i ? row % shape[i] : row) * strides[i];
    row /= i ? shape[i] : 1;
  }
  return sum;
}

int64_t Plane::runWidth() const {
  if (view)
    return view->isBoxed() ? view->shape[4] : endless;
  return tile->layout.inner == ElementOrder::None ? endless : boxShape(tile->layout, elem).cols;
}

int64_t Plane::runStride() const {
  if (view)
    return view->colStride();
  if (tile->layout.inner == ElementOrder::None)
    return tile->layout.box == ElementOrder::RowMajor ? 1 : tile->bufferRows;
  return tile->layout.inner == ElementOrder::RowMajor ? 1 : boxShape(tile->layout, elem).rows;
}

} // namespace ptl::rt::sim
