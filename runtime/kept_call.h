// Keeps what the checks of a call found, so that a call that differs in its data alone need not be checked again.
#pragma once

#include "runtime/library.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptl::rt {

/// A call whose checks passed: all that they depended on, and what they found. What they ask of the addresses of data is asked
/// again each time: that there are data, their alignment, and that nothing written overlaps another argument.
class KeptCall {
public:
  /// Whether the checks of a call of `entry` depend on anything that `fits` does not compare: elements of arrays.
  static bool canKeep(const Entry &entry);

  /// Precondition: the call passed all checks, and found variant `variant`, whose code takes `dims`.
  /// False if the call is too large to be kept; nothing fits then.
  bool keep(const PtlEntry &entry, const CallArguments &all, size_t variant,
            const std::vector<int64_t> &dims);

  /// Whether the same checks would pass for this call. False says nothing: the checks themselves then find what is wrong.
  bool fits(const PtlEntry &entry, const CallArguments &all) const;

  size_t variant() const { return variant_; }
  const int64_t *dims() const { return dims_.data(); }

private:
  /// The larger calls take so long that checking them does not matter.
  static constexpr size_t kMostArrays = 16;
  static constexpr size_t kMostNumbers = 96;

  /// One array, but for its extents and strides.
  struct Kept {
    int64_t rank;
    int32_t elem;
    bool isWritten;
    bool isEmpty;
    uintptr_t misaligned; ///< bits of an address that are 0 for aligned data
    /// The bytes that it may touch, from `data` on.
    int64_t low, high;
  };

  bool describe(const Entry &entry, const CallArguments &all);
  bool hasSameArray(const Kept &kept, const PtlArray *array, const int64_t *&numbers) const;
  bool overlaps(const CallArguments &all) const;

  uint64_t serial_ = 0; ///< of the entry; 0: nothing is kept
  size_t arrayCount_ = 0;
  size_t variant_ = 0;
  std::array<Kept, kMostArrays> arrays_;
  std::array<int64_t, kMostNumbers> numbers_; ///< extents and strides, by array and axis
  bool comparesScalars_ = false;
  std::vector<uint64_t> scalars_;
  std::vector<std::pair<std::string, int64_t>> named_;
  std::vector<int64_t> dims_;
};

/// The kept calls of one thread: two of each of some entries.
class KeptCalls {
public:
  /// Null if there is none. It stays as it is until the next call of `keep`.
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
