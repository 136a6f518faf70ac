// Tiles in on-chip memory and views of global memory as plain values, and the positions of their
// elements.
#pragma once

#include "frontend/base/elem_type.h"
#include "ir/ops/box_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace ptl::rt::sim {

enum class Place : uint8_t { Vec, Mat, Left, Right, Acc, Bias, Scale, ScaleLeft, ScaleRight };
inline constexpr size_t kNumPlaces = 9;
/// The names are those of the machine files.
inline constexpr std::array<std::string_view, kNumPlaces> placeNames = {
    "vec", "mat", "left", "right", "acc", "bias", "scale", "scaleleft", "scaleright"};
inline constexpr std::string_view placeName(Place place) {
  return placeNames[static_cast<size_t>(place)];
}

enum class ElementOrder : uint8_t { None, RowMajor, ColMajor };

/// The order of a tile's elements: `box` orders the boxes, `inner` the elements inside a box;
/// without `inner` there are no boxes.
struct Layout {
  ElementOrder box = ElementOrder::RowMajor;
  ElementOrder inner = ElementOrder::None;
  int32_t fractal = 512; ///< bytes of a box
  int32_t pad =
      /// contents outside the valid part: 0 nothing, 1 zero, 2 the largest, 3 the smallest value
      0;

  bool operator==(const Layout &) const = default;
};

/// A tile, or a window into one.
struct Tile {
  Place place = Place::Vec;
  ElemKind elem = ElemKind::F32;
  Layout layout;
  int32_t rows = 0, cols = 0;
  int32_t validRows = 0, validCols = 0;
  int32_t bufferRows = 0, bufferCols = 0; ///< of the buffer to which the layout applies
  int32_t row0 = 0, col0 = 0;             ///< the window's first row and column in the buffer
  int32_t core = -1;   ///< the core of the group whose memory it is; -1: the executing core
  int64_t address = 0; ///< of the buffer, in bytes

  /// Bytes of the whole buffer.
  int64_t bufferBytes() const;
};

inline BoxOrder orderOf(const Layout &layout) {
  return {layout.inner != ElementOrder::None, layout.box == ElementOrder::RowMajor,
          layout.inner != ElementOrder::ColMajor, layout.fractal};
}
inline BoxShape boxShape(const Layout &layout, ElemKind elem) {
  return boxShape(orderOf(layout), elemBytes(elem));
}

/// The byte offset of element (row, col) of the window from the start of its buffer, in the layout
/// of the hardware.
inline int64_t elementOffset(const Tile &tile, int64_t row, int64_t col) {
  return elementOffset(orderOf(tile.layout), elemBytes(tile.elem), tile.bufferRows, tile.bufferCols,
                       tile.row0 + row, tile.col0 + col);
}

enum class ViewLayout : uint8_t { Nd, Dn, Nz };

/// A box of global memory or, with rank 0, a pointer. Strides count elements.
struct View {
  static constexpr int maxRank = 5;

  int32_t array = -1; ///< number of the array in the launch
  ElemKind elem = ElemKind::F32;
  ViewLayout layout = ViewLayout::Nd;
  int8_t rank = 0;
  int64_t offset = 0; ///< bytes from the start of the array
  /// The position depends on missing data; `offset` leaves that part out. This occurs only in runs
  /// that compute times only.
  bool isSomewhere = false;
  int64_t shape[maxRank] = {};
  int64_t strides[maxRank] = {};

  /// The view as a matrix: its last axis is the columns, and all axes before it count rows. An `nz`
  /// view of rank 5 has boxes: [1, columns / c0, rows / 16, 16, c0].
  int64_t rows() const;
  int64_t cols() const;
  int64_t numElements() const { return rows() * cols(); }
  bool isBoxed() const { return layout == ViewLayout::Nz && rank == 5; }
  /// The number of elements from `offset` to element (row, col).
  int64_t elementOffset(int64_t row, int64_t col) const;
  /// The distance of neighbouring columns in elements.
  int64_t colStride() const { return rank ? strides[rank - 1] : 1; }
};

/// The elements of a tile or a view in memory that has been checked: an operand of an instruction.
/// `rows` and `cols` are the valid part.
struct Plane {
  uint8_t *base = nullptr; ///< of the buffer or of the first element of the view
  const Tile *tile = nullptr;
  const View *view = nullptr;
  ElemKind elem = ElemKind::F32;
  int64_t rows = 0, cols = 0;

  uint8_t *at(int64_t row, int64_t col) const {
    return base + (tile ? elementOffset(*tile, row, col)
                        : view->elementOffset(row, col) * elemBytes(elem));
  }
  /// Calls `f(address, stride in elements, count)` for the pieces of a row with constant stride,
  /// from left to right.
  template <typename F> void forRuns(int64_t row, int64_t col, int64_t count, F f) const {
    int64_t width = runWidth(), stride = runStride(),
            origin = tile && tile->layout.inner != ElementOrder::None ? tile->col0 : 0;
    while (count > 0) {
      int64_t n = std::min(count, width - (origin + col) % width);
      f(at(row, col), stride, n);
      col += n;
      count -= n;
    }
  }

private:
  static constexpr int64_t endless = int64_t(1) << 40;
  int64_t runWidth() const;
  int64_t runStride() const;
};

} // namespace ptl::rt::sim
