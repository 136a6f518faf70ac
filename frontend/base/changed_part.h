// The difference between two texts, or any two sequences.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ptl {

/// The part between the common prefix and the common suffix of two sequences: `[begin, oldEnd)` of
/// the old one became `[begin, newEnd)` of the new one.
struct ChangedPart {
  size_t begin = 0, oldEnd = 0, newEnd = 0;

  bool isEmpty() const { return begin == oldEnd && begin == newEnd; }
};

/// The smallest part whose replacement turns `before` into `after`. The common suffix does not
/// overlap the common prefix, which is computed first.
template <typename Before, typename After>
ChangedPart changedPart(const Before &before, const After &after) {
  size_t shorter = std::min(before.size(), after.size()), begin = 0, tail = 0;
  while (begin < shorter && before[begin] == after[begin])
    ++begin;
  while (tail < shorter - begin &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  return {begin, before.size() - tail, after.size() - tail};
}

} // namespace ptl
