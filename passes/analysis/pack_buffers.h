// Packs buffers into one memory: each has a number of bytes and an interval of positions at which
// it is live; two that are live at one position do not share bytes. Standard library only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptl {

struct PackItem {
  uint32_t begin = 0, end = 0; ///< first and last position at which it is live
  int64_t bytes = 0;
  std::optional<int64_t> fixed; ///< an address that is given; may overlap other given ones
};

struct Packing {
  std::vector<int64_t> addresses; ///< by item, multiples of the alignment
  int64_t peak = 0;               ///< end of the highest item
  /// Largest sum of the live bytes, each rounded up to the alignment: no packing has a lower peak.
  int64_t lowerBound = 0;
  uint32_t fullest = 0; ///< the first position with that sum
};

/// Largest sum of live bytes over the positions; fills `lowerBound` and `fullest` only.
Packing measureLive(std::span<const PackItem> items, int64_t alignment);

/// Packs all items; the time is O(n log n), with a bounded search for a better packing on top of
/// it. `enough`: a peak that needs no such search.
Packing packBuffers(std::span<const PackItem> items, int64_t alignment, int64_t enough = 0);

} // namespace ptl
