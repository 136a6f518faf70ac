#include "frontend/sema/calls/associative.h"

#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

/// The requirement that is a promise about the `fn` itself.
static constexpr std::string_view kAssociativeText = "associative";

bool isAssociative(const CallableDecl &decl) {
  return decl.kind == DeclKind::Fn &&
         std::any_of(decl.wheres.begin(), decl.wheres.end(),
                     [](const WhereClause &where) { return where.text == kAssociativeText; });
}

/// `T[..]`: whatever shape, and nothing more.
static bool isAnyShape(const Type *type) {
  return type && type->isArray() && type->prefix && type->extents.empty();
}

/// Two values for each result, of its type, in one order.
static bool combines(const CallableDecl &decl) {
  if (!decl.returnType)
    return false;
  bool isTuple = decl.returnType->kind == TypeKind::Tuple;
  std::vector<const Type *> results = {decl.returnType};
  if (isTuple)
    results.assign(decl.returnType->elements.begin(), decl.returnType->elements.end());
  if (decl.params.size() != 2 * results.size())
    return false;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Local &param = *decl.params[i];
    const Type *result = results[i % results.size()];
    if (param.isInout || !isAnyShape(param.type) || !isAnyShape(result) ||
        !(param.type->elem == result->elem))
      return false;
  }
  return true;
}

bool readAssociative(Context &ctx, NodeId condition, WhereClause *clause) {
  NodeId name = skipParens(ctx, condition);
  // The word is reserved in `where` alone; a constant of that name keeps its meaning.
  bool isIt = ctx.isKind(DeclKind::Fn) && ctx.tree.is(name, NodeKind::NameExpr) &&
              ctx.text(name) == kAssociativeText && !lookupValue(ctx, kAssociativeText);
  if (!isIt)
    return false;
  clause->condition = trueExpr(ctx, condition);
  clause->text = kAssociativeText;
  clause->span = ctx.span(condition);
  if (!combines(*ctx.decl)) {
    ctx.sink
        .report(DiagId::OperandNotAllowed, clause->span,
                {std::string(kAssociativeText), "the parameters of `" + ctx.decl->name + "`"})
        .note("an associative `fn` combines two tuples of values: its parameters are all values of "
              "the first, then all values of the second, and its results are of the same types: "
              "`(a: T[..], b: T[..]) -> T[..]`, `(a: T[..], p: T[..], b: T[..], q: T[..]) -> "
              "(T[..], T[..])`");
    ctx.decl->hasErrors = true;
  }
  return true;
}

static bool keepsApart(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Op: {
    OpClass kind = cast<OpExpr>(expr)->op->opClass;
    return kind == OpClass::Elementwise || kind == OpClass::Comparison || kind == OpClass::Select;
  }
  case ExprKind::Const:
  case ExprKind::LocalRef:
  case ExprKind::Convert:
  case ExprKind::Tuple:
  case ExprKind::EnumTag:
    return true;
  default:
    return false;
  }
}

void checkElementwise(Context &ctx, const CallableDecl &decl) {
  auto refuse = [&](Span span) {
    ctx.sink
        .report(DiagId::OperandNotAllowed, span,
                {std::string(kAssociativeText), "`" + std::string(ctx.text(span)) + "`"})
        .note("an associative `fn` is applied to many positions at once: it may only contain "
              "`let`s and elementwise operations");
  };
  auto look = [&](const Expr *value) {
    if (value)
      forEachExpr(value, [&](const Expr *expr) {
        if (!keepsApart(expr))
          refuse(expr->span);
      });
  };
  // Scans combine many positions in one operation, and in an order of their own. A body with loops,
  // stores or reductions over an axis would give something else for all positions than for each.
  for (const Stmt *stmt : decl.body->stmts) {
    if (stmt->kind == StmtKind::Let)
      look(cast<LetStmt>(stmt)->value);
    else if (stmt->kind == StmtKind::Return)
      look(cast<ReturnStmt>(stmt)->value);
    else
      refuse(stmt->span);
  }
  look(decl.body->value);
}

} // namespace ptl
