// Diagnostics for calls of built-ins whose arguments match no record.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// The shape that `(M, 4)` or `[M, 4]` was probably meant to be: `[M, 4]`; `[N]` for any other
/// text.
std::string shapeText(std::string_view text);

/// Reports that no record of the name accepts such arguments, with the types that they have.
void reportNoRecord(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

/// Whether the last axis of a value has extent 1 because a reduction kept it. `depth` counts the values that were looked through.
bool endsInKeptAxis(Context &ctx, const Expr *value, int depth = 0);
/// Warns if `[M, 1]`, with an axis that a reduction has kept, meets `[M]` and broadcasts to `[M,
/// M]`.
void warnOfKeptAxis(Context &ctx, const OpCall &call, const OpMatch &match);

} // namespace ptl
