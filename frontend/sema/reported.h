// Selects the values that explain a failed condition.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <vector>

namespace ptl {

/// The scalars to show with a condition that does not hold, in source order, each source text once:
/// the operands of comparisons, then the dimensions, locals and fields inside them. Constants are
/// not shown. All but the operands of an outermost comparison have a value wherever the condition
/// has one, and their evaluation has no side effects.
std::vector<const Expr *> reportedValues(const Expr &condition, const SourceManager &sources);

} // namespace ptl
