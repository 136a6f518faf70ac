// Walks over checked statements and expressions.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Calls `visit` for an expression and all its subexpressions, outer ones first. `expr` may be
/// null.
void forEachExpr(const Expr *expr, const std::function<void(const Expr *)> &visit);
/// Calls `onExpr` for the direct expressions of a statement, without their subexpressions, and the
/// other function for its blocks, both in program order. Null children are skipped.
void forEachPart(const Stmt &stmt, const std::function<void(const Expr *)> &onExpr,
                 const std::function<void(const Block *)> &onBlock);
/// The local at the root of `x`, `x[…]`, `s.field[…]`; null for other expressions.
Local *rootLocal(const Expr *expr);

} // namespace ptl
