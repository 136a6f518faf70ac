#include "runtime/movement/execute.h"

namespace ptl::movement {

void forEachRow(const Box &within, const Box &box,
                const std::function<void(int64_t, int64_t)> &row) {
  if (elementCount(box) == 0)
    return;
  size_t rank = box.size();
  if (rank == 0) {
    row(0, 1);
    return;
  }
  std::vector<int64_t> strides(rank, 1), at;
  for (size_t axis = rank - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * within[axis + 1].length();
  for (const Interval &interval : box)
    at.push_back(interval.begin);
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      offset += (at[axis] - within[axis].begin) * strides[axis];
    row(offset, box.back().length());
    size_t axis = rank - 1;
    while (axis-- > 0) {
      if (++at[axis] < box[axis].end)
        break;
      at[axis] = box[axis].begin;
    }
    if (axis == static_cast<size_t>(-1))
      return;
  }
}

} // namespace ptl::movement
