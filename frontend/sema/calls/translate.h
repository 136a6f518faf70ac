// Translates the conditions of a callee to the caller's names.
#pragma once

#include "frontend/sema/calls/unify.h"

namespace ptl {

/// Rewrites expressions of a `where`: parameters are replaced by arguments, dimensions by what they
/// are bound to.
struct Translator {
  Context &ctx;
  const Unifier &unifier;
  const CallableDecl &callee;
  const CallExpr *call;

  /// Null if the expression has a form that does not occur in conditions.
  Expr *translate(const Expr *expr) const;

private:
  Expr *translateLocal(const LocalRefExpr *ref) const;
  Expr *translateOp(const OpExpr *op) const;
  Expr *translateIndex(const IndexExpr *index) const;
};

/// The symbols of all dimensions in an expression.
void collectSymbols(const Expr *expr, std::vector<SymbolId> &symbols);

} // namespace ptl
