// Sorts unsigned numbers by whole vectors: partition around a pivot, and networks of comparisons in registers for what is short.
#pragma once

#include <cstdint>

namespace ptl::rt {

/// How many elements beyond `count` the `room` of `sortByVectors` has: whole vectors are written there.
inline constexpr int64_t kVectorSortSlack = 16;

/// Whether this processor has AVX-512, without which `sortByVectors` sorts one number after the other.
bool canSortByVectors();

/// Sorts `count` numbers in ascending order. `room` has `count + kVectorSortSlack` elements and does not overlap them.
void sortByVectors(uint32_t *numbers, int64_t count, uint32_t *room);
void sortByVectors(uint64_t *numbers, int64_t count, uint64_t *room);

} // namespace ptl::rt
