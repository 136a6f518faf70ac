// Packs buffers into one memory. Each has a number of bytes and an interval of positions at which
// it is live; buffers that are live at a common position must not share bytes. Uses only the
// standard library.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptl {

struct PackItem {
  uint32_t begin = 0, end = 0; ///< first and last position at which it is live
  int64_t bytes = 0;
  std::optional<int64_t> fixed; ///< a given address; may overlap other given ones
};

struct Packing {
  std::vector<int64_t> addresses; ///< by item, multiples of the alignment
  int64_t peak = 0;               ///< end of the highest item
  /// The largest sum of live bytes, each rounded up to the alignment: a lower bound for the peak of
  /// any packing.
  int64_t lowerBound = 0;
  uint32_t fullest = 0; ///< the first position with that sum
};

/// The largest sum of live bytes over the positions; fills only `lowerBound` and `fullest`.
Packing measureLive(std::span<const PackItem> items, int64_t alignment);

/// Packs all items in O(n log n), followed by a bounded search for a better packing. A peak of at
/// most `enough` needs no search.
Packing packBuffers(std::span<const PackItem> items, int64_t alignment, int64_t enough = 0);

} // namespace ptl
