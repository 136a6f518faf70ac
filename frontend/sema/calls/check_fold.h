// `scan(f, x…, start: …, axis: n)` and `reduce(…)`: running and whole results of an associative `fn`
// along an axis. The check writes them out, so that no executor knows of them.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// The call as a value; null: `name` is another name.
Expr *checkFold(Context &ctx, NodeId node, std::string_view name,
                const std::vector<CallArgument> &args);

} // namespace ptl
