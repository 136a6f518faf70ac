// Properties of all elements of an array that one pass over it decides, for `where all(…)`,
// `unique(…)` and `sorted(…)`, which are checked before a kernel runs. Each answer is "yes" or
// "unknown"; in the latter case callers check the elements one by one and find the offending one.
#pragma once

#include "runtime/expr.h"

namespace ptl::rt {

/// The least and the largest element, both integers or both floats.
struct ElementBounds {
  Number least, most;
};

/// nullopt for an empty array, for one with NaNs, and for `u64` values that do not fit 63 bits.
std::optional<ElementBounds> boundsOf(const PtlArray &array);

/// A cache of the bounds of the arrays of one call, each computed on first use.
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

/// Whether `fact`, an expression over an element of array number `index`, follows from the bounds
/// of the elements by interval arithmetic.
bool followsFromBounds(const Expr &fact, int index, const ExprValues &values);

/// Whether no element is smaller than its predecessor, in row-major order.
bool isSurelySorted(const PtlArray &array);

/// Whether all elements are distinct, for integers within a range not much larger than their
/// number: decided with one bit per value.
bool isSurelyUnique(const PtlArray &array, const std::optional<ElementBounds> &bounds);

} // namespace ptl::rt
