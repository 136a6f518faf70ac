#include "runtime/graph/region.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptl::rt {
namespace {

using Wide = __int128;

/// x with a * x = 1 modulo m, for a and m without a common factor.
int64_t inverseModulo(int64_t a, int64_t m) {
  int64_t x = 1, next = 0, r = a, nextR = m;
  while (nextR != 0) {
    int64_t quotient = r / nextR;
    x = std::exchange(next, x - quotient * next);
    r = std::exchange(nextR, r - quotient * nextR);
  }
  return (x % m + m) % m;
}

} // namespace

Axis intersection(const Axis &a, const Axis &b) {
  if (a.count <= 0 || b.count <= 0)
    return {};
  int64_t low = std::max(a.start, b.start), high = std::min(a.last(), b.last());
  if (low > high)
    return {};
  if (a.step == 1 && b.step == 1)
    return {low, high - low + 1, 1};
  int64_t common = std::gcd(a.step, b.step);
  Wide distance = Wide(b.start) - a.start;
  if (distance % common != 0)
    return {};
  // Positions a.start + k * a.step that are b.start modulo b.step: one k modulo b.step / common.
  int64_t modulus = b.step / common;
  Wide reduced = (distance / common) % modulus;
  if (reduced < 0)
    reduced += modulus;
  Wide k = modulus == 1 ? 0 : reduced * inverseModulo(a.step / common % modulus, modulus) % modulus;
  Wide step = Wide(a.step) * modulus, first = Wide(a.start) + k * a.step;
  if (first < low)
    first += (low - first + step - 1) / step * step;
  if (first > high)
    return {};
  Wide count = (high - first) / step + 1;
  // A single position keeps a step that fits, whatever the common multiple is.
  return {int64_t(first), int64_t(count), count == 1 ? 1 : int64_t(step)};
}

bool overlaps(const Axis &a, const Axis &b) {
  if (a.count <= 0 || b.count <= 0 || a.start > b.last() || b.start > a.last())
    return false;
  if (a.step == 1 && b.step == 1)
    return true;
  return intersection(a, b).count > 0;
}

bool contains(const Axis &outer, const Axis &inner) {
  if (inner.count <= 0)
    return true;
  if (outer.count <= 0 || inner.start < outer.start || inner.last() > outer.last())
    return false;
  if (outer.step == 1)
    return true;
  return (inner.start - outer.start) % outer.step == 0 &&
         (inner.count == 1 || inner.step % outer.step == 0);
}

bool overlaps(Box a, Box b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!overlaps(a[i], b[i]))
      return false;
  return true;
}

bool isEmpty(Box box) {
  return std::any_of(box.begin(), box.end(), [](const Axis &axis) { return axis.count <= 0; });
}

bool contains(Box outer, Box inner) {
  if (isEmpty(inner))
    return true;
  for (size_t i = 0; i < outer.size(); ++i)
    if (!contains(outer[i], inner[i]))
      return false;
  return true;
}

bool containsCommon(Box outer, Box a, Box b) {
  bool inside = true;
  for (size_t i = 0; i < outer.size(); ++i) {
    Axis both = intersection(a[i], b[i]);
    if (both.count == 0)
      return true;
    inside = inside && contains(outer[i], both);
  }
  return inside;
}

} // namespace ptl::rt
