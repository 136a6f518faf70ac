// Creates nodes of the checked tree.
#pragma once

#include "frontend/sema/types/make_type.h"

namespace ptl {

/// Creates a node at the location of the syntax node, which may be absent. A plain `Expr` is an
/// error node.
template <typename T> T *newExpr(Context &ctx, NodeId node, const Type *type) {
  T *expr = ctx.program.make<T>();
  expr->syntax = node;
  if (node != kNoNode)
    expr->span = ctx.span(node);
  expr->type = type;
  return expr;
}

template <typename T> T *newStmt(Context &ctx, NodeId node) {
  T *stmt = ctx.program.make<T>();
  stmt->syntax = node;
  if (node != kNoNode)
    stmt->span = ctx.span(node);
  return stmt;
}

/// An error expression, about which nothing more is reported.
Expr *errorExpr(Context &ctx, NodeId node);
/// A reference to a local as an expression, with its `dim`.
Expr *refTo(Context &ctx, Local *local, NodeId node);
/// A dimension as an `int` value: a constant, a reference or a `DimExpr`.
Expr *dimValue(Context &ctx, Dim dim, NodeId node);
/// An operator or built-in on operands whose types already agree.
OpExpr *makeOp(Context &ctx, const OpRecord *op, NodeId node, const Type *type,
               std::vector<Expr *> args);

inline bool isMissing(const Expr *expr) { return !expr || expr->type->isError(); }

/// Records for editors the checked expression of a syntax node of the root file.
void note(Context &ctx, NodeId node, const Expr *expr);
void note(Context &ctx, NodeId node, Local *local);

} // namespace ptl
