// Pools of pages: `pool(f32[P, D], disk: 1GiB)`, `find(kv, tokens)`, `kv[p]` and `keep(kv, page)`.
#pragma once

#include "frontend/sema/calls/check_call.h"

#include <vector>

namespace ptl {

/// A pool changes how fast a program is, and never what it computes. So in the checked tree its words are conversions that
/// change nothing, with a `PoolUse`: a pool in which nothing is found. Null if the call has none of these names, or its
/// first argument is no pool.
Expr *checkPoolCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

/// `kv[p]`, if the base is a pool; null otherwise.
Expr *checkPoolPage(Context &ctx, NodeId node, const Expr *base, std::span<const NodeId> indices);

/// What an expression says of a pool; null for most.
const PoolUse *poolUseOf(const Expr *expr);

} // namespace ptl
