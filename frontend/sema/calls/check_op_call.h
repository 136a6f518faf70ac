// Calls of built-ins: the record, its arguments by kind, the signature, then the record's own check.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// A call of the built-ins of that name; reports where none takes the arguments.
Expr *checkOpCall(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args, const Type *expected);

} // namespace ptl
