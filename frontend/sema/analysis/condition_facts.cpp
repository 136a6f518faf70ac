#include "frontend/sema/analysis/condition_facts.h"

#include "frontend/sema/declarations/check_decl.h"

namespace ptl {

/// `a % b` as an expression: its operands as dimensions.
static bool asRemainder(const Expr *expr, Dim *a, Dim *b) {
  if (expr->kind != ExprKind::Op)
    return false;
  auto *op = static_cast<const OpExpr *>(expr);
  if (!op->op || op->op->name != "%" || op->args.size() != 2)
    return false;
  *a = op->args[0]->dim;
  *b = op->args[1]->dim;
  return *a && *b;
}

static void assumeComparison(FactSet &facts, const OpExpr &op,
                             const std::function<Dim(Dim)> &named) {
  Dim a = named(op.args[0]->dim), b = named(op.args[1]->dim);
  std::string_view name = op.op->name;
  Dim dividend, divisor;
  if (name == "==" && b && b.isConstant(0) && asRemainder(op.args[0], &dividend, &divisor)) {
    divisor = named(divisor);
    // A remainder by 0 stops the program, so a divisor that is no length below 0 is at least 1.
    if (facts.proveNonNegative(divisor).isTrue())
      facts.addLessEqual(facts.context().constant(1), divisor, op.span);
    facts.addDivides(divisor, named(dividend), op.span);
    return;
  }
  if (!a || !b)
    return;
  if (name == "==")
    facts.addEqual(a, b, op.span);
  else if (name == "<=")
    facts.addLessEqual(a, b, op.span);
  else if (name == "<")
    facts.addLess(a, b, op.span);
  else if (name == ">=")
    facts.addLessEqual(b, a, op.span);
  else if (name == ">")
    facts.addLess(b, a, op.span);
}

void assumeCondition(FactSet &facts, const Expr *condition, const std::function<Dim(Dim)> &named) {
  if (condition->kind == ExprKind::Logical) {
    auto *logical = static_cast<const LogicalExpr *>(condition);
    if (!logical->isAnd)
      return;
    assumeCondition(facts, logical->lhs, named);
    assumeCondition(facts, logical->rhs, named);
  } else if (condition->kind == ExprKind::Op) {
    auto *op = static_cast<const OpExpr *>(condition);
    if (op->op && op->args.size() == 2 && op->args[0] && op->args[1])
      assumeComparison(facts, *op, named);
  }
}

void assumeCondition(Context &ctx, const Expr *condition) { assumeCondition(ctx.facts, condition); }

} // namespace ptl
