// Arrays of callers, which may have strides of any sign: the bytes that they may touch, and
// iteration over their elements.
#pragma once

#include "runtime/elem.h"

#include <array>
#include <cstdint>

namespace ptl::rt {

/// Returns how many elements an array of these extents has, at most INT64_MAX. Extents are not negative.
inline int64_t elementCount(int64_t rank, const int64_t *extents) {
  int64_t count = 1;
  bool tooMany = false;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (extents[axis] == 0)
      return 0;
    tooMany |= __builtin_mul_overflow(count, extents[axis], &count);
  }
  return tooMany ? INT64_MAX : count;
}

/// The addresses of the bytes that an array may touch, from `low` to before `high`; both are 0 for an empty array.
struct ByteRange {
  uintptr_t low, high;

  bool overlaps(const ByteRange &other) const { return low < other.high && other.low < high; }
};

inline ByteRange bytesOf(const PtlArray &array) {
  if (elementCount(array.rank, array.extents) == 0)
    return {0, 0};
  int64_t size = elemInfo(array.elem)->size();
  int64_t low = 0, high = 0;
  for (int64_t axis = 0; axis < array.rank; ++axis) {
    // The multiplication wraps for strides that no real array has; the check is then useless, but
    // defined.
    int64_t reach = static_cast<int64_t>(uint64_t(array.extents[axis] - 1) *
                                         uint64_t(array.strides[axis]) * uint64_t(size));
    (reach < 0 ? low : high) += reach;
  }
  uintptr_t base = reinterpret_cast<uintptr_t>(array.data);
  return {base + low, base + high + size};
}

/// Calls `visit(cell, number)` with the address of each element in row-major order, and its number
/// from 0 on, until `visit` returns false. Precondition: the array has at most PTL_MAX_RANK axes.
template <typename Visit> void forEachElement(const PtlArray &array, Visit visit) {
  const ElemInfo *info = elemInfo(array.elem);
  int64_t count = elementCount(array.rank, array.extents);
  std::array<int64_t, PTL_MAX_RANK> position{};
  const char *cell = static_cast<const char *>(array.data);
  for (int64_t number = 0; number < count; ++number) {
    if (!visit(static_cast<const void *>(cell), number))
      return;
    for (int64_t axis = array.rank - 1; axis >= 0; --axis) {
      cell += array.strides[axis] * info->size();
      if (++position[axis] < array.extents[axis])
        break;
      cell -= array.strides[axis] * info->size() * array.extents[axis];
      position[axis] = 0;
    }
  }
}

} // namespace ptl::rt
