// Calls of the block level: dispatch by name, and those calls that are not instructions of the
// table.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// Checks `push pop wait signal barrier`, PTO instructions and collectives. Null if the name is
/// none of these.
Expr *checkBlockCall(Context &ctx, NodeId node, std::string_view name,
                     const std::vector<CallArgument> &args, const Type *expected);

} // namespace ptl
