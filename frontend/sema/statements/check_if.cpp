// `if` as statement and as expression, and what conditions say about dimensions.
#include "frontend/sema/statements/check_if.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

static Expr *checkIfCondition(Context &ctx, NodeId node, bool isStatic) {
  Expr *condition = checkCondition(ctx, node);
  if (isStatic && !isMissing(condition) && !isStaticValue(ctx, condition))
    ctx.sink.report(DiagId::StaticNotKnown, condition->span, {"the condition of a `static if`"})
        .note("only constants, tunables and `static` dimensions are known at compile time");
  return condition;
}

// ---- if -----------------------------------------------------------------------------------------

/// `else if` as a block of one statement.
static Block *checkElse(Context &ctx, NodeId node) {
  if (!ctx.tree.is(node, NodeKind::If))
    return checkBlock(ctx, node, false);
  auto *block = ctx.program.make<Block>();
  block->span = ctx.span(node);
  HoistedValues::Scope values(ctx.hoistedValues);
  std::vector<Stmt *> outer;
  outer.swap(ctx.hoisted);
  Stmt *inner = checkIf(ctx, node);
  block->stmts = std::move(ctx.hoisted);
  block->stmts.push_back(inner);
  ctx.hoisted = std::move(outer);
  return block;
}

/// Whether a block definitely leaves what is around it.
static bool leaves(const Block *block) {
  if (!block || block->stmts.empty())
    return false;
  StmtKind last = block->stmts.back()->kind;
  return last == StmtKind::Return || last == StmtKind::Break || last == StmtKind::Continue;
}

Stmt *checkIf(Context &ctx, NodeId node) {
  IfView view(ctx.tree, node);
  auto *stmt = newStmt<IfStmt>(ctx, node);
  stmt->isStatic = ctx.tree.has(node, NodeFlag::Static);
  stmt->condition = checkIfCondition(ctx, view.condition(), stmt->isStatic);
  bool wasStatic = ctx.inStatic;
  ctx.inStatic = ctx.inStatic || stmt->isStatic;
  FactSet before = ctx.facts;
  assumeCondition(ctx, stmt->condition);
  stmt->thenBlock = checkBlock(ctx, view.then(), false);
  ctx.facts = before;
  if (view.otherwise() != kNoNode) {
    assumeNot(ctx, stmt->condition);
    stmt->elseBlock = checkElse(ctx, view.otherwise());
    ctx.facts = before;
  } else if (leaves(stmt->thenBlock)) {
    assumeNot(ctx, stmt->condition); // what follows is reached only then
  }
  ctx.inStatic = wasStatic;
  return stmt;
}

// ---- if as a value ------------------------------------------------------------------------------

/// An arm's block as a value of the common type; reports values that cannot leave the block.
static Block *checkArm(Context &ctx, NodeId node, const Type *expected) {
  if (ctx.tree.is(node, NodeKind::If)) {
    auto *block = ctx.program.make<Block>();
    block->span = ctx.span(node);
    HoistedValues::Scope values(ctx.hoistedValues);
    // What the inner `if` hoists may be evaluated in this arm only: the outer condition may be what
    // makes it legal.
    std::vector<Stmt *> outer;
    outer.swap(ctx.hoisted);
    block->value = checkIfValue(ctx, node, expected);
    block->stmts = std::move(ctx.hoisted);
    ctx.hoisted = std::move(outer);
    return block;
  }
  // Symbols are numbered in the order of their making, so those of the block come behind this one.
  SymbolId marker = ctx.dims.addSymbol("", SymbolKind::ScalarValue);
  Block *block = checkBlock(ctx, node, true, expected);
  auto isInside = [&](SymbolId symbol) { return symbol.index >= marker.index; };
  if (block->value && mentionsSymbol(block->value->type, isInside)) {
    ctx.sink.report(DiagId::TypeLeavesScope, block->value->span,
                    {toString(ctx, block->value->type)});
    block->value = errorExpr(ctx, block->value->syntax);
  }
  return block;
}

/// Both arms get one type: constants take that of the other arm, `int` converts.
static const Type *unifyArms(Context &ctx, IfExpr *expr) {
  Expr *&a = expr->thenBlock->value;
  Expr *&b = expr->elseBlock->value;
  if (isMissing(a) || isMissing(b))
    return a && !isMissing(a) ? a->type : b ? b->type : errorType(ctx);
  if (a->type->isInt() && b->type->isScalar() && elemIs(b->type->elem, ElemConstraint::Integer))
    a = convertInt(ctx, a, b->type->elem);
  else if (b->type->isInt() && a->type->isScalar() &&
           elemIs(a->type->elem, ElemConstraint::Integer))
    b = convertInt(ctx, b, a->type->elem);
  if (a->type->kind == TypeKind::Void && b->type->kind == TypeKind::Void)
    return a->type;
  size_t errors = ctx.sink.errorCount();
  b = convertTo(ctx, b, a->type, "the value of the other arm");
  return ctx.sink.errorCount() > errors ? errorType(ctx) : a->type;
}

Expr *checkIfValue(Context &ctx, NodeId node, const Type *expected) {
  IfView view(ctx.tree, node);
  auto *expr = newExpr<IfExpr>(ctx, node, errorType(ctx));
  bool isStatic = ctx.tree.has(node, NodeFlag::Static);
  expr->condition = checkIfCondition(ctx, view.condition(), isStatic);
  FactSet before = ctx.facts;
  assumeCondition(ctx, expr->condition);
  expr->thenBlock = checkArm(ctx, view.then(), expected);
  ctx.facts = before;
  if (view.otherwise() == kNoNode) {
    ctx.sink.report(DiagId::IfValueNeedsElse, ctx.span(node), {});
    expr->elseBlock = ctx.program.make<Block>();
    return expr;
  }
  assumeNot(ctx, expr->condition);
  const Type *armType = expected                 ? expected
                        : expr->thenBlock->value ? expr->thenBlock->value->type
                                                 : nullptr;
  expr->elseBlock = checkArm(
      ctx, view.otherwise(),
      armType && !armType->isError() && armType->kind != TypeKind::Void ? armType : nullptr);
  ctx.facts = before;
  if (!expr->thenBlock->value || !expr->elseBlock->value) {
    NodeId arm = expr->thenBlock->value ? view.otherwise() : view.then();
    ctx.sink.report(DiagId::ArmWithoutValue, ctx.span(arm), {});
    return expr;
  }
  expr->type = unifyArms(ctx, expr);
  // The value is known as a dimension only if both arms give the same one.
  bool bothInt = expr->type->isInt() && expr->thenBlock->value->dim &&
                 expr->thenBlock->value->dim == expr->elseBlock->value->dim;
  if (bothInt)
    expr->dim = expr->thenBlock->value->dim;
  return expr;
}

} // namespace ptl
