// Diagnostics for calls of built-ins whose arguments fit no record.
#pragma once

#include "frontend/sema/check_expr.h"

namespace ptl {

/// The shape that `(M, 4)` or `[M, 4]` was meant as: `[M, 4]`; `[N]` if it is none.
std::string shapeText(std::string_view text);

/// Reports that no record of the name takes such arguments, with what they are here.
void reportNoRecord(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

} // namespace ptl
