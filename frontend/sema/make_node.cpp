#include "frontend/sema/make_node.h"

#include "ir/ops/op_table.h"

namespace ptl {

Expr *errorExpr(Context &ctx, NodeId node) { return newExpr<Expr>(ctx, node, errorType(ctx)); }

Expr *refTo(Context &ctx, Local *local, NodeId node) {
  auto *ref = newExpr<LocalRefExpr>(ctx, node, local->type ? local->type : errorType(ctx));
  ref->local = local;
  ref->dim = local->dim;
  return ref;
}

Expr *dimValue(Context &ctx, Dim dim, NodeId node) {
  if (auto value = dim.constant()) {
    auto *constant = newExpr<ConstExpr>(ctx, node, intType(ctx));
    constant->intValue = *value;
    constant->dim = dim;
    return constant;
  }
  auto *expr = newExpr<DimExpr>(ctx, node, intType(ctx));
  expr->dim = dim;
  return expr;
}

OpExpr *makeOp(Context &ctx, const OpRecord *op, NodeId node, const Type *type,
               std::vector<Expr *> args) {
  auto *expr = newExpr<OpExpr>(ctx, node, type);
  expr->op = op;
  expr->args = std::move(args);
  return expr;
}

void note(Context &ctx, NodeId node, const Expr *expr) {
  if (node != kNoNode && isRootModule(ctx))
    ctx.program.exprOfNode[node] = expr;
}

void note(Context &ctx, NodeId node, Local *local) {
  if (node != kNoNode && isRootModule(ctx))
    ctx.program.localOfNode[node] = local;
}

} // namespace ptl
