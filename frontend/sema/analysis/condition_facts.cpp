#include "frontend/sema/analysis/condition_facts.h"

#include "frontend/sema/make_node.h"
#include "frontend/sema/types/capacity.h"
#include "ir/ops/op_table.h"

namespace ptl {

/// `a % b` as an expression: its operands as dimensions.
static bool asRemainder(const Expr *expr, Dim *a, Dim *b) {
  auto *op = dyn_cast<OpExpr>(expr);
  if (!op)
    return false;
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
  if (auto *logical = dyn_cast<LogicalExpr>(condition)) {
    if (!logical->isAnd)
      return;
    assumeCondition(facts, logical->lhs, named);
    assumeCondition(facts, logical->rhs, named);
  } else if (auto *op = dyn_cast<OpExpr>(condition)) {
    if (op->op && op->args.size() == 2 && op->args[0] && op->args[1])
      assumeComparison(facts, *op, named);
  }
}

void assumeCondition(Context &ctx, const Expr *condition) { assumeCondition(ctx.facts, condition); }

// ---- What the facts say of conditions -------------------------------------------------------------

namespace {
/// A comparison of two dimensions.
struct DimComparison {
  std::string_view op;
  Dim a, b;
};
} // namespace

static std::optional<DimComparison> comparisonOf(const Expr *condition) {
  if (!condition || condition->kind != ExprKind::Op)
    return std::nullopt;
  const auto *op = cast<OpExpr>(condition);
  if (!op->op || op->op->opClass != OpClass::Comparison || op->args.size() != 2)
    return std::nullopt;
  if (!op->args[0] || !op->args[1] || !op->args[0]->dim || !op->args[1]->dim)
    return std::nullopt;
  return DimComparison{op->op->name, op->args[0]->dim, op->args[1]->dim};
}

static Proof negate(Proof proof) {
  return proof == Proof::True ? Proof::False : proof == Proof::False ? Proof::True : Proof::Unknown;
}

Proof conditionProof(Context &ctx, const Expr *condition) {
  if (isMissing(condition))
    return Proof::Unknown;
  if (condition->kind == ExprKind::Const && condition->type->isScalar())
    return cast<ConstExpr>(condition)->intValue ? Proof::True : Proof::False;
  if (const auto *logical = dyn_cast<LogicalExpr>(condition)) {
    Proof lhs = conditionProof(ctx, logical->lhs), rhs = conditionProof(ctx, logical->rhs);
    // One side may decide alone, even if nothing is known of the other.
    Proof decides = logical->isAnd ? Proof::False : Proof::True;
    if (lhs == decides || rhs == decides)
      return decides;
    return lhs == rhs ? lhs : Proof::Unknown;
  }
  auto comparison = comparisonOf(condition);
  if (!comparison)
    return Proof::Unknown;
  const auto &[op, a, b] = *comparison;
  if (op == "==")
    return ctx.facts.proveEqual(a, b).proof;
  if (op == "!=")
    return negate(ctx.facts.proveEqual(a, b).proof);
  if (op == "<=")
    return ctx.facts.proveLessEqual(a, b).proof;
  if (op == "<")
    return ctx.facts.proveLess(a, b).proof;
  if (op == ">=")
    return ctx.facts.proveLessEqual(b, a).proof;
  return op == ">" ? ctx.facts.proveLess(b, a).proof : Proof::Unknown;
}

void assumeNot(Context &ctx, const Expr *condition) {
  if (isMissing(condition))
    return;
  if (const auto *logical = dyn_cast<LogicalExpr>(condition)) {
    // The negation of `or` states both negations. That of `and` states only that one of both holds,
    // which facts cannot say.
    if (!logical->isAnd) {
      assumeNot(ctx, logical->lhs);
      assumeNot(ctx, logical->rhs);
    }
    return;
  }
  auto comparison = comparisonOf(condition);
  if (!comparison)
    return;
  const auto &[op, a, b] = *comparison;
  Span span = condition->span;
  // Comparisons here are of integers, so the negation of `<=` is `>`; for floats it would not be,
  // because of NaN.
  if (op == "!=")
    ctx.facts.addEqual(a, b, span);
  else if (op == "<=")
    ctx.facts.addLess(b, a, span);
  else if (op == "<")
    ctx.facts.addLessEqual(b, a, span);
  else if (op == ">=")
    ctx.facts.addLess(a, b, span);
  else if (op == ">")
    ctx.facts.addLessEqual(a, b, span);
}

bool isStaticValue(Context &ctx, const Expr *expr) {
  if (!expr)
    return true;
  if (expr->dim)
    return isStaticDim(ctx, expr->dim);
  switch (expr->kind) {
  case ExprKind::Error:
  case ExprKind::Const:
    return true;
  case ExprKind::LocalRef: {
    LocalKind kind = cast<LocalRefExpr>(expr)->local->kind;
    return kind == LocalKind::Tunable || kind == LocalKind::Const;
  }
  case ExprKind::Op: {
    for (const Expr *arg : cast<OpExpr>(expr)->args)
      if (!isStaticValue(ctx, arg))
        return false;
    return expr->type->isScalar();
  }
  case ExprKind::Logical: {
    const auto *logical = cast<LogicalExpr>(expr);
    return isStaticValue(ctx, logical->lhs) && isStaticValue(ctx, logical->rhs);
  }
  case ExprKind::Convert:
    return isStaticValue(ctx, cast<ConvertExpr>(expr)->arg);
  default:
    return false;
  }
}

} // namespace ptl
