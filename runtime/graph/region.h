#pragma once

#include <cstdint>
#include <span>

namespace ptl::rt {

/// The positions start, start + step, … along one axis, `count` of them; `step` is positive.
struct Axis {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;

  int64_t last() const { return start + (count - 1) * step; }
  friend bool operator==(const Axis &, const Axis &) = default;
};

/// `overlaps`: whether two axes have a position in common; `contains`: whether `outer` has all
/// positions of `inner`; `intersection`: the common positions. All answers are exact.
bool overlaps(const Axis &a, const Axis &b);
bool contains(const Axis &outer, const Axis &inner);
Axis intersection(const Axis &a, const Axis &b);

/// A strided box: the product of its axes. All boxes of a storage have the storage's rank; a box
/// without axes is one element.
using Box = std::span<const Axis>;

/// The same for boxes of equal rank; exact, because a box is a product of axes.
bool overlaps(Box a, Box b);
bool contains(Box outer, Box inner);
bool isEmpty(Box box);

/// Whether `outer` has all elements that `a` and `b` have in common.
bool containsCommon(Box outer, Box a, Box b);

} // namespace ptl::rt
