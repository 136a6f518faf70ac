// Which values explain a condition that failed.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <vector>

namespace ptl {

/// The scalars to show with a condition that does not hold, in the order written, each text of the
/// source once: what a comparison compares, then the dimensions, locals and fields inside.
/// Constants speak for themselves. All but the operands of an outermost comparison have a value
/// wherever the condition has one, and none of their evaluations has an effect.
std::vector<const Expr *> reportedValues(const Expr &condition, const SourceManager &sources);

} // namespace ptl
