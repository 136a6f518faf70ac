// Diagnostics for calls of built-ins whose arguments fit no record.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// The shape that `(M, 4)` or `[M, 4]` was meant as: `[M, 4]`; `[N]` if it is none.
std::string shapeText(std::string_view text);

/// Reports that no record of the name takes such arguments, with what they are here.
void reportNoRecord(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

/// Warns where `[M, 1]`, whose axis a reduction has kept, meets `[M]` and becomes `[M, M]`.
void warnOfKeptAxis(Context &ctx, const OpCall &call, const OpMatch &match);

} // namespace ptl
