// Facts about all elements of an array that one pass over it settles: what `where all(…)`,
// `unique(…)` and `sorted(…)` ask before a kernel runs. Each answer is "yes" or "not known", so
// that whoever needs the element which breaks a fact looks for it one by one.
#pragma once

#include "runtime/expr.h"

namespace ptl::rt {

/// The least and the largest element, both integers or both floats.
struct ElementBounds {
  Number least, most;
};

/// nullopt of an empty array, of one with NaNs, and of `u64` values that 63 bits do not hold.
std::optional<ElementBounds> boundsOf(const PtlArray &array);

/// The bounds of the arrays of one call, each looked for when they are first asked for.
class DataBounds {
public:
  const std::optional<ElementBounds> &of(int index, const PtlArray &array);

private:
  struct Known {
    bool looked = false;
    std::optional<ElementBounds> bounds;
  };
  std::vector<Known> known_; ///< by number of the array
};

/// Whether `fact`, an expression over the element of the array number `index`, follows from the bounds of the elements: by
/// arithmetic of intervals.
bool followsFromBounds(const Expr &fact, int index, const ExprValues &values);

/// Whether no element is below the one before it, in row-major order.
bool isSurelySorted(const PtlArray &array);

/// Whether no two elements are equal, of integers that lie within a range not much longer than
/// their number: a bit for each value tells.
bool isSurelyUnique(const PtlArray &array, const std::optional<ElementBounds> &bounds);

} // namespace ptl::rt
