// Calls of the block level: which one it is, and those that are no instructions of the table.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// `push pop wait signal barrier`, PTO instructions, collectives. Null: no such name.
Expr *checkBlockCall(Context &ctx, NodeId node, std::string_view name,
                     const std::vector<CallArgument> &args, const Type *expected);

} // namespace ptl
