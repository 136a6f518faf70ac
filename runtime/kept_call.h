// Caches the result of a call's checks, so that a call that differs only in its data need not be
// checked again.
#pragma once

#include "runtime/library.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptl::rt {

/// A call whose checks passed: everything that they depended on, and their result. The checks on
/// the addresses of data are repeated each time: that there are data, their alignment, and that
/// nothing written overlaps another argument.
class KeptCall {
public:
  /// Whether the checks of a call of `entry` depend only on what `fits` compares, that is, not on
  /// elements of arrays.
  static bool canKeep(const Entry &entry);

  /// Precondition: the call passed all checks, and selected variant `variant`, whose code takes
  /// `dims`. False if the call is too large to be cached; then nothing fits.
  bool keep(const PtlEntry &entry, const CallArguments &all, size_t variant,
            const std::vector<int64_t> &dims);

  /// Whether the same checks would pass for this call. False is inconclusive: the checks themselves
  /// must then run.
  bool fits(const PtlEntry &entry, const CallArguments &all) const;

  size_t variant() const { return variant_; }
  const int64_t *dims() const { return dims_.data(); }

private:
  /// Larger calls take so long that the time of their checks does not matter.
  static constexpr size_t kMostArrays = 16;
  static constexpr size_t kMostNumbers = 96;

  /// One array, without its extents and strides.
  struct Kept {
    int64_t rank;
    int32_t elem;
    bool isWritten;
    bool isEmpty;
    uintptr_t misaligned; ///< mask of address bits that are 0 for aligned data
    /// The bytes that it may touch, relative to `data`.
    int64_t low, high;
  };

  bool describe(const Entry &entry, const CallArguments &all);
  bool hasSameArray(const Kept &kept, const PtlArray *array, const int64_t *&numbers) const;
  bool overlaps(const CallArguments &all) const;

  uint64_t serial_ = 0; ///< of the entry; 0: the cache is empty
  size_t arrayCount_ = 0;
  size_t variant_ = 0;
  std::array<Kept, kMostArrays> arrays_;
  std::array<int64_t, kMostNumbers> numbers_; ///< extents and strides, by array and axis
  bool comparesScalars_ = false;
  std::vector<uint64_t> scalars_;
  std::vector<std::pair<std::string, int64_t>> named_;
  std::vector<int64_t> dims_;
};

/// The cached calls of one thread: two for each of some entries.
class KeptCalls {
public:
  /// Null if there is none. The result is valid until the next call of `keep`.
  const KeptCall *find(const PtlEntry &entry, const CallArguments &all) {
    Pair &pair = pairOf(entry);
    for (size_t i : {pair.last, 1 - pair.last})
      if (pair.calls[i].fits(entry, all)) {
        pair.last = i;
        return &pair.calls[i];
      }
    return nullptr;
  }

  /// Precondition: as `KeptCall::keep`.
  void keep(const PtlEntry &entry, const CallArguments &all, size_t variant,
            const std::vector<int64_t> &dims) {
    Pair &pair = pairOf(entry);
    pair.last = 1 - pair.last;
    pair.calls[pair.last].keep(entry, all, variant, dims);
  }

private:
  static constexpr size_t kEntries = 8;
  struct Pair {
    std::array<KeptCall, 2> calls;
    size_t last = 0;
  };

  Pair &pairOf(const PtlEntry &entry) { return pairs_[entry.serial % kEntries]; }

  std::array<Pair, kEntries> pairs_;
};

} // namespace ptl::rt
