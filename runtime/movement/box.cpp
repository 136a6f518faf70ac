// Boxes: parts of arrays.
#include "runtime/movement/step_list.h"

#include <algorithm>

namespace ptl::movement {

int64_t elementCount(const Box &box) {
  int64_t count = 1;
  for (const Interval &interval : box)
    count *= interval.length();
  return count;
}

bool contains(const Box &outer, const Box &inner) {
  if (outer.size() != inner.size())
    return false;
  for (size_t i = 0; i < inner.size(); ++i)
    if (inner[i].begin > inner[i].end || inner[i].begin < outer[i].begin ||
        inner[i].end > outer[i].end)
      return false;
  return true;
}

Box intersection(const Box &a, const Box &b) {
  Box box;
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t begin = std::max(a[i].begin, b[i].begin);
    // Boxes that do not meet have an empty intersection, not one of a negative length.
    box.push_back({begin, std::max(begin, std::min(a[i].end, b[i].end))});
  }
  return box;
}

bool overlap(const Box &a, const Box &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::max(a[i].begin, b[i].begin) >= std::min(a[i].end, b[i].end))
      return false;
  return true;
}

std::string toString(const Box &box) {
  std::string text = "[";
  for (const Interval &interval : box)
    text += (text.size() > 1 ? ", " : "") + std::to_string(interval.begin) + ":" +
            std::to_string(interval.end);
  return text + "]";
}

Box wholeBox(std::span<const int64_t> shape) {
  Box box;
  for (int64_t extent : shape)
    box.push_back({0, extent});
  return box;
}

Interval blockOf(int64_t length, int64_t parts, int64_t part) {
  // All blocks but the last ones are equally long, so that positions are found by a division; the
  // last may be shorter or empty.
  int64_t block = (length + parts - 1) / parts;
  int64_t begin = std::min(part * block, length);
  return {begin, std::min(begin + block, length)};
}

Box partBox(std::span<const int64_t> shape, size_t axis, int64_t parts, int64_t part) {
  Box box = wholeBox(shape);
  box[axis] = blockOf(shape[axis], parts, part);
  return box;
}

} // namespace ptl::movement
