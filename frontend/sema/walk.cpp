#include "frontend/sema/walk.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/stmt_visitor.h"

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
    if (const PoolUse *pool = cast<ConvertExpr>(expr)->pool)
      forEachExpr(pool->with, visit);
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

namespace {

class Parts : public StmtVisitor<Parts> {
public:
  Parts(const Visit &onExpr, const std::function<void(const Block *)> &onBlock)
      : onExpr_(onExpr), onBlock_(onBlock) {}

  void visitLet(const LetStmt &stmt) { expr(stmt.value); }
  void visitAssign(const AssignStmt &stmt) {
    expr(stmt.place);
    expr(stmt.value);
  }
  void visitExprStmt(const ExprStmt &stmt) { expr(stmt.value); }
  void visitFor(const ForStmt &stmt) {
    expr(stmt.head.iterable);
    if (stmt.checkpoint)
      expr(stmt.checkpoint->every);
    block(stmt.body);
  }
  void visitParallel(const ParallelStmt &stmt) {
    for (const LoopHead &head : stmt.heads)
      expr(head.iterable);
    block(stmt.body);
  }
  void visitWhile(const WhileStmt &stmt) {
    expr(stmt.condition);
    block(stmt.body);
  }
  void visitIf(const IfStmt &stmt) {
    expr(stmt.condition);
    block(stmt.thenBlock);
    block(stmt.elseBlock);
  }
  void visitBreak(const BreakStmt &) {}
  void visitContinue(const ContinueStmt &) {}
  void visitReturn(const ReturnStmt &stmt) { expr(stmt.value); }
  void visitAssert(const AssertStmt &stmt) { expr(stmt.condition); }
  void visitTask(const TaskStmt &stmt) { block(stmt.body); }
  void visitBlock(const BlockStmt &stmt) { block(stmt.block); }
  void visitOnSection(const OnStmt &stmt) { block(stmt.body); }
  void visitBlockDecl(const BlockDeclStmt &) {}
  void visitError(const Stmt &) {}

private:
  void expr(const Expr *expr) {
    if (expr)
      onExpr_(expr);
  }
  void block(const Block *block) {
    if (block)
      onBlock_(block);
  }

  const Visit &onExpr_;
  const std::function<void(const Block *)> &onBlock_;
};

} // namespace

void forEachPart(const Stmt &stmt, const Visit &onExpr,
                 const std::function<void(const Block *)> &onBlock) {
  Parts(onExpr, onBlock).visit(stmt);
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
