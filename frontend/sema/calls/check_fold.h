// `scan(f, x…, start: …, axis: n)` and `reduce(…)`: prefix results and the total of an associative
// `fn` along an axis. The checker expands them to other expressions, so that no executor needs to
// support them.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// Checks such a call; null if `name` is another name.
Expr *checkFold(Context &ctx, NodeId node, std::string_view name,
                const std::vector<CallArgument> &args);

} // namespace ptl
