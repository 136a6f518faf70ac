// Verdicts as text.
#pragma once

#include "frontend/dim/facts.h"

namespace ptl {

/// `K % 16 == 0`, `N <= M`.
std::string toString(const DimContext &context, Relation relation, Dim a, Dim b);

/// The reason of a verdict as a clause without a full stop: "`N + 1` is always 1 more than `N`",
/// "it follows from `K % 16 == 0`", "nothing relates `S` and `T`".
std::string explain(const FactSet &facts, const Verdict &verdict);

/// For an unknown verdict: the relation that would settle it, in terms of dimensions and scalars
/// where the bounds of ranges allow.
struct MissingFact {
  std::string text;     ///< `N <= M`
  bool isWhere = false; ///< speaks of dimensions and tunables only: fits `where`, else `assert`
};
MissingFact missingFact(const FactSet &facts, const Verdict &verdict);

} // namespace ptl
