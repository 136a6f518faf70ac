// Walks over checked expressions.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Calls `visit` for an expression and all expressions in it, outer ones first; for nothing when it
/// is null.
void forEachExpr(const Expr *expr, const std::function<void(const Expr *)> &visit);
/// The root of `x`, `x[…]`, `s.field[…]`; null if the expression has none.
Local *rootLocal(const Expr *expr);

} // namespace ptl
