// Calls of built-ins: the record, the arguments by kind, the signature, then the record's own
// check.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// Checks a call of the built-ins of that name; reports an error if none of them accepts the
/// arguments.
Expr *checkOpCall(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args, const Type *expected);

} // namespace ptl
