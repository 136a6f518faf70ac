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

/// Proves what a callee requires of a call, or leaves it to be checked when it runs; false where it
/// never holds (reported).
bool checkRequirements(Context &ctx, NodeId node, Unifier &unifier, const CallableDecl &callee,
                       CallExpr *call);

/// The symbols of all dimensions in an expression.
void collectSymbols(const Expr *expr, std::vector<SymbolId> &symbols);

} // namespace ptl
