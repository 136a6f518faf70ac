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

} // namespace ptl::rt
