// The conditions of a callee in the terms of a caller.
#pragma once

#include "frontend/sema/calls/unify.h"

namespace ptl {

/// Rewrites expressions of a `where`: parameters become arguments, dimensions what they are bound
/// to.
struct Translator {
  Context &ctx;
  const Unifier &unifier;
  const CallableDecl &callee;
  const CallExpr *call;

  /// Null when the expression has a form that conditions do not have.
  Expr *translate(const Expr *expr) const;

private:
  Expr *translateLocal(const LocalRefExpr *ref) const;
  Expr *translateOp(const OpExpr *op) const;
  Expr *translateIndex(const IndexExpr *index) const;
};

/// The symbols of all dimensions in an expression.
void collectSymbols(const Expr *expr, std::vector<SymbolId> &symbols);

} // namespace ptl
