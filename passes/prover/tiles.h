// The bytes of tiles, and boxes of global memory.
#pragma once

#include "passes/prover/model.h"

#include <map>
#include <unordered_map>

namespace ptl::prove {

struct ByteRange {
  int64_t begin, end;
  bool operator==(const ByteRange &) const = default;
};

/// Sets of bytes of tiles, relative to the start of the tile: sorted, disjoint ranges. Equal sets
/// have the same number.
class RangeTable {
public:
  /// Rows [row, row + rows) and columns [col, col + cols) of a tile, clamped to its extents.
  uint32_t part(const TileShape &shape, int64_t row, int64_t col, int64_t rows, int64_t cols);
  /// Contiguous bytes.
  uint32_t between(int64_t begin, int64_t end);
  /// The union of `bytes` and `count - 1` copies of it, each `step` bytes before the next.
  uint32_t repeated(uint32_t bytes, int64_t step, int64_t count);
  /// The union of all these parts.
  uint32_t together(std::vector<uint32_t> parts);
  const std::vector<ByteRange> &operator[](uint32_t index) const { return ranges_[index]; }

private:
  struct Key {
    const void *type;
    int64_t row, col, rows, cols;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::vector<std::vector<ByteRange>> ranges_;
  std::map<std::vector<uint32_t>, uint32_t> unions_;
};

/// A box of global memory relative to a pointer, in elements.
struct GlobalBox {
  struct Axis {
    int64_t size = 1, stride = 1;
    bool operator==(const Axis &) const = default;
  };
  uint32_t pointer = 0;
  bool known = true; ///< false: anywhere relative to the pointer
  uint8_t rank = 0;
  int64_t offset = 0;
  Axis axes[5];

  bool empty() const;
  bool operator==(const GlobalBox &) const = default;
};

/// The first and the last element that a box may contain; everything if it is unknown.
std::pair<int64_t, int64_t> reachOf(const GlobalBox &box);

/// Whether two boxes may share an element. Exact for boxes of arrays with equal strides.
bool mayOverlap(const GlobalBox &a, const GlobalBox &b);

} // namespace ptl::prove
