// Walks over checked statements and expressions.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Calls `visit` for an expression and all expressions in it, outer ones first; for nothing when it
/// is null.
void forEachExpr(const Expr *expr, const std::function<void(const Expr *)> &visit);
/// Calls the one for the expressions that stand in a statement itself, without those in them, the
/// other for its blocks, both in program order; for nothing that is null.
void forEachPart(const Stmt &stmt, const std::function<void(const Expr *)> &onExpr,
                 const std::function<void(const Block *)> &onBlock);
/// The root of `x`, `x[…]`, `s.field[…]`; null if the expression has none.
Local *rootLocal(const Expr *expr);

} // namespace ptl
