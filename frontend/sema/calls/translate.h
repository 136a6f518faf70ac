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
  /// Whether a length in what was translated is too large with these arguments. Nothing may be
  /// proved of such a condition, since unknown lengths satisfy all.
  mutable bool isTooLarge = false;

  /// Null if the expression has a form that does not occur in conditions.
  Expr *translate(const Expr *expr) const;

private:
  Expr *translateLocal(const LocalRefExpr *ref) const;
  Expr *translateOp(const OpExpr *op) const;
  Expr *translateIndex(const IndexExpr *index) const;
  Dim inCaller(Dim dim) const;
};

/// The symbols of all dimensions in an expression.
void collectSymbols(const Expr *expr, std::vector<SymbolId> &symbols);

} // namespace ptl
