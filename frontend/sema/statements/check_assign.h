// Assignments: which places can be written, which values they accept, and the operators that
// combine with the old value.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkAssign(Context &ctx, NodeId node);
Stmt *checkAtomic(Context &ctx, NodeId node);
/// Whether an expression is `fetch_add(…)`, `fetch_max(…)` or `fetch_min(…)`.
bool isFetch(Context &ctx, NodeId node);
/// Checks `let old = fetch_add(inout y[i], v)`.
Stmt *checkFetch(Context &ctx, NodeId node);

} // namespace ptl
