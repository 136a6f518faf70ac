#include "frontend/sema/walk.h"

#include "frontend/sema/block/checked_block.h"

namespace ptl {

using Visit = std::function<void(const Expr *)>;

static void visitAll(const std::vector<Expr *> &exprs, const Visit &visit) {
  for (const Expr *expr : exprs)
    forEachExpr(expr, visit);
}

static void visitIndex(const IndexExpr &index, const Visit &visit) {
  forEachExpr(index.base, visit);
  for (const IndexItem &item : index.items)
    forEachExpr(item.value, visit);
  forEachExpr(index.outside, visit);
}

static void visitCall(const CallExpr &call, const Visit &visit) {
  for (const CallArg &arg : call.args)
    forEachExpr(arg.value, visit);
  for (const auto &tunable : call.tunables)
    forEachExpr(tunable.second, visit);
}

void forEachExpr(const Expr *expr, const Visit &visit) {
  if (!expr)
    return;
  visit(expr);
  switch (expr->kind) {
  case ExprKind::Op:
    visitAll(cast<OpExpr>(expr)->args, visit);
    visitAll(cast<OpExpr>(expr)->rest, visit);
    break;
  case ExprKind::Convert:
    forEachExpr(cast<ConvertExpr>(expr)->arg, visit);
    break;
  case ExprKind::Call:
    visitCall(*cast<CallExpr>(expr), visit);
    break;
  case ExprKind::Index:
    visitIndex(*cast<IndexExpr>(expr), visit);
    break;
  case ExprKind::If:
    forEachExpr(cast<IfExpr>(expr)->condition, visit);
    break;
  case ExprKind::Range: {
    auto *range = cast<RangeExpr>(expr);
    visitAll({range->lo, range->hi, range->step}, visit);
    break;
  }
  case ExprKind::Tiles: {
    auto *tiles = cast<TilesExpr>(expr);
    visitAll({tiles->lo, tiles->hi, tiles->size}, visit);
    break;
  }
  case ExprKind::Field:
    forEachExpr(cast<FieldExpr>(expr)->base, visit);
    break;
  case ExprKind::Tuple:
    visitAll(cast<TupleExpr>(expr)->elements, visit);
    break;
  case ExprKind::List:
    visitAll(cast<ListExpr>(expr)->elements, visit);
    break;
  case ExprKind::StructMake:
    visitAll(cast<StructMakeExpr>(expr)->fields, visit);
    break;
  case ExprKind::Logical: {
    auto *logical = cast<LogicalExpr>(expr);
    visitAll({logical->lhs, logical->rhs}, visit);
    break;
  }
  case ExprKind::Block: {
    auto *block = cast<BlockExpr>(expr);
    visitAll(block->outs, visit);
    visitAll(block->ins, visit);
    break;
  }
  case ExprKind::Error:
  case ExprKind::Const:
  case ExprKind::LocalRef:
  case ExprKind::Dim:
  case ExprKind::String:
  case ExprKind::EnumTag:
    break;
  }
}

Local *rootLocal(const Expr *expr) {
  while (expr) {
    if (expr->kind == ExprKind::LocalRef)
      return cast<LocalRefExpr>(expr)->local;
    if (expr->kind == ExprKind::Index)
      expr = cast<IndexExpr>(expr)->base;
    else if (expr->kind == ExprKind::Field)
      expr = cast<FieldExpr>(expr)->base;
    else
      return nullptr;
  }
  return nullptr;
}

} // namespace ptl
