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
    visitAll(static_cast<const OpExpr *>(expr)->args, visit);
    visitAll(static_cast<const OpExpr *>(expr)->rest, visit);
    break;
  case ExprKind::Convert:
    forEachExpr(static_cast<const ConvertExpr *>(expr)->arg, visit);
    break;
  case ExprKind::Call:
    visitCall(*static_cast<const CallExpr *>(expr), visit);
    break;
  case ExprKind::Index:
    visitIndex(*static_cast<const IndexExpr *>(expr), visit);
    break;
  case ExprKind::If:
    forEachExpr(static_cast<const IfExpr *>(expr)->condition, visit);
    break;
  case ExprKind::Range: {
    auto *range = static_cast<const RangeExpr *>(expr);
    visitAll({range->lo, range->hi, range->step}, visit);
    break;
  }
  case ExprKind::Tiles: {
    auto *tiles = static_cast<const TilesExpr *>(expr);
    visitAll({tiles->lo, tiles->hi, tiles->size}, visit);
    break;
  }
  case ExprKind::Field:
    forEachExpr(static_cast<const FieldExpr *>(expr)->base, visit);
    break;
  case ExprKind::Tuple:
    visitAll(static_cast<const TupleExpr *>(expr)->elements, visit);
    break;
  case ExprKind::List:
    visitAll(static_cast<const ListExpr *>(expr)->elements, visit);
    break;
  case ExprKind::StructMake:
    visitAll(static_cast<const StructMakeExpr *>(expr)->fields, visit);
    break;
  case ExprKind::Logical: {
    auto *logical = static_cast<const LogicalExpr *>(expr);
    visitAll({logical->lhs, logical->rhs}, visit);
    break;
  }
  case ExprKind::Block: {
    auto *block = static_cast<const BlockExpr *>(expr);
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
      return static_cast<const LocalRefExpr *>(expr)->local;
    if (expr->kind == ExprKind::Index)
      expr = static_cast<const IndexExpr *>(expr)->base;
    else if (expr->kind == ExprKind::Field)
      expr = static_cast<const FieldExpr *>(expr)->base;
    else
      return nullptr;
  }
  return nullptr;
}

} // namespace ptl
