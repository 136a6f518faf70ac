// Sorts unsigned numbers with vector instructions: quicksort partitions around a pivot, and sorting
// networks in registers for short pieces.
#pragma once

#include <cstdint>

namespace ptl::rt {

/// The number of elements in addition to `count` in the `room` of `sortByVectors`, because whole
/// vectors are written there.
inline constexpr int64_t kVectorSortSlack = 16;

/// Whether this processor has AVX-512, without which `sortByVectors` sorts one number at a time.
bool canSortByVectors();

/// Sorts `count` numbers in ascending order. `room` is scratch with `count + kVectorSortSlack`
/// elements, and must not overlap them.
void sortByVectors(uint32_t *numbers, int64_t count, uint32_t *room);
void sortByVectors(uint64_t *numbers, int64_t count, uint64_t *room);

/// How the bits of elements become keys, unsigned numbers in the order of the elements.
template <typename Bits> struct RowKeys {
  bool isReal; ///< bits of negative numbers are inverted, the sign of others is set
  Bits flip;   ///< bits that are inverted then
  /// Of floats: numbers whose bits without the sign are larger are NaN.
  Bits infinity;
};

/// Sorts `count` elements by their keys, which never leave the registers, into `to`. Returns false, and may have written nothing, where
/// that is not possible: for long rows, floats that keys do not tell apart (NaN and -0), and without AVX-512.
bool sortShortRow(const uint32_t *from, int64_t count, const RowKeys<uint32_t> &form, uint32_t *to);
bool sortShortRow(const uint64_t *from, int64_t count, const RowKeys<uint64_t> &form, uint64_t *to);

} // namespace ptl::rt
