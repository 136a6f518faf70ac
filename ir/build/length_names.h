// Names of lengths in types: one for lengths that are known to be equal.
#pragma once

#include "frontend/sema/analysis/condition_facts.h"

#include <map>

namespace ptl::ir {

/// What is known of lengths at one place of a program, and how those that quotients hide behind are
/// called there. A copy is what is known in a scope.
class LengthNames {
public:
  explicit LengthNames(DimContext &dims) : facts_(dims) {}

  void assume(const Expr &condition, const std::function<Dim(Dim)> &named) {
    assumeCondition(facts_, &condition, named);
  }
  /// The second half `N - N/2` of an even length is `N/2`, as the first one is.
  Dim nameOf(Dim length);
  /// The least constant found to bound a length from above.
  std::optional<int64_t> upperBound(Dim length) const { return facts_.upperBound(length); }

private:
  FactSet facts_;
  std::map<uint32_t, Dim> names_; ///< by what lengths are under the facts
};

} // namespace ptl::ir
