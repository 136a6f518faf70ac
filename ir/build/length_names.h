// Names of lengths in types: lengths that are known to be equal have one name.
#pragma once

#include "frontend/sema/analysis/condition_facts.h"

#include <map>

namespace ptl::ir {

/// The facts about lengths at one place of a program, and one name for each class of lengths that
/// are equal by them. A copy has the facts of a scope.
class LengthNames {
public:
  explicit LengthNames(DimContext &dims) : facts_(dims) {}

  void assume(const Expr &condition, const std::function<Dim(Dim)> &named) {
    assumeCondition(facts_, &condition, named);
  }
  /// `N - N/2`, the second half of an even length, is simplified to `N/2`, the name of the first
  /// half.
  Dim nameOf(Dim length);
  /// The least constant upper bound of a length that is known.
  std::optional<int64_t> upperBound(Dim length) const { return facts_.upperBound(length); }
  bool isNonNegative(Dim length) const { return facts_.proveNonNegative(length).isTrue(); }

  /// Whether a length is known to be a multiple of a number.
  bool isMultiple(Dim length, int64_t of) {
    return facts_.proveDivides(facts_.context().constant(of), length).isTrue();
  }

private:
  FactSet facts_;
  std::map<uint32_t, Dim> names_; ///< by the reduced form of the length
};

} // namespace ptl::ir
