// Pools of pages: `pool(f32[P, D], disk: 1GiB)`, `find(kv, tokens)`, `kv[p]` and `keep(kv, page)`.
#pragma once

#include "frontend/sema/calls/check_call.h"

#include <vector>

namespace ptl {

/// A pool affects the speed of a program, never its results. So in the checked tree the calls are
/// conversions that change nothing, with a `PoolUse`, as for a pool in which nothing is ever found.
/// Null if the call has none of these names, or its first argument is not a pool.
Expr *checkPoolCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

/// `kv[p]`, if the base is a pool; null otherwise.
Expr *checkPoolPage(Context &ctx, NodeId node, const Expr *base, std::span<const NodeId> indices);

/// The use of a pool that an expression stands for; null for most expressions.
const PoolUse *poolUseOf(const Expr *expr);

} // namespace ptl
