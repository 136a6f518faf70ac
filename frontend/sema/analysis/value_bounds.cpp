// Bounds of computed integers: what `min`, `max` and `%` say of a value that is no dimension, and
// what a `where` says of elements. So a length that data decides has a capacity:
// `let n = min(int(count[b]), 64)`.
#include "frontend/sema/analysis/value_bounds.h"

#include "frontend/sema/analysis/data_facts.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

namespace {

using Bounds = std::vector<Dim>;

constexpr int kDepth = 8; ///< of expressions that are looked into

const OpExpr *asOp(const Expr *expr, OpId id) {
  const auto *op = dyn_cast<OpExpr>(expr);
  if (!op)
    return nullptr;
  bool isIt = op->op && op->op->id == id && op->args.size() == 2 && !isMissing(op->args[0]) &&
              !isMissing(op->args[1]);
  return isIt ? op : nullptr;
}

/// The value before conversions that keep it, and behind names that do not change.
const Expr *lookedThrough(Context &ctx, const Expr *expr) {
  for (;;) {
    expr = withoutConversion(ctx, expr);
    if (isMissing(expr) || expr->dim || expr->kind != ExprKind::LocalRef)
      return expr;
    auto named = ctx.letValues.find(cast<LocalRefExpr>(expr)->local);
    if (named == ctx.letValues.end())
      return expr;
    expr = named->second;
  }
}

Dim known(Context &ctx, const Expr *expr) {
  if (expr->kind == ExprKind::Const && expr->type->isInt())
    return ctx.dims.constant(cast<ConstExpr>(expr)->intValue);
  return expr->dim;
}

/// Dimensions that the value is no less than (`below`), or no more than.
Bounds boundsOf(Context &ctx, const Expr *expr, bool below, int depth) {
  expr = lookedThrough(ctx, expr);
  if (isMissing(expr))
    return {};
  if (Dim dim = known(ctx, expr))
    return {dim};
  if (depth == 0 || !expr->type->isScalar())
    return {};
  DimContext &dims = ctx.dims;
  if (expr->kind == ExprKind::Index)
    return elementBounds(ctx, expr, below);
  // The remainder of other types has the sign of the dividend.
  const OpExpr *modulo = expr->type->isInt() ? asOp(expr, OpId::Rem) : nullptr;
  if (modulo) {
    Dim divisor = known(ctx, modulo->args[1]);
    // The remainder of a positive divisor is at least 0 and less than the divisor.
    if (!divisor || !ctx.facts.proveLess(dims.constant(0), divisor).isTrue())
      return {};
    return {below ? dims.constant(0) : dims.sub(divisor, dims.constant(1))};
  }
  // What has no type yet or is a float has no bounds that are dimensions.
  if (!expr->type->isInt() && !elemIs(expr->type->elem, ElemConstraint::Integer))
    return {};
  const OpExpr *least = asOp(expr, OpId::Min), *most = asOp(expr, OpId::Max);
  if (!least && !most)
    return {};
  const OpExpr *op = least ? least : most;
  Bounds first = boundsOf(ctx, op->args[0], below, depth - 1),
         second = boundsOf(ctx, op->args[1], below, depth - 1);
  // One of the operands bounds a `min` from above and a `max` from below.
  if (below == (most != nullptr)) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  // The other way round a bound must hold for both operands, so bounds are combined in pairs.
  Bounds both;
  for (Dim a : first)
    for (Dim b : second)
      both.push_back(below ? dims.min(a, b) : dims.max(a, b));
  return both;
}

} // namespace

bool staysWithin(Context &ctx, const Expr *value, Dim extent) {
  if (isMissing(value) || !extent)
    return false;
  Bounds below = boundsOf(ctx, value, /*below=*/true, kDepth),
         above = boundsOf(ctx, value, /*below=*/false, kDepth);
  // One lower and one upper bound are enough.
  return std::any_of(below.begin(), below.end(),
                     [&](Dim low) { return ctx.facts.proveNonNegative(low).isTrue(); }) &&
         std::any_of(above.begin(), above.end(),
                     [&](Dim high) { return ctx.facts.proveLess(high, extent).isTrue(); });
}

void assumeBounds(Context &ctx, const Local *local, const Expr *value) {
  if (!local || !local->symbol || isMissing(value) || value->dim || !value->type->isInt())
    return;
  for (Dim bound : boundsOf(ctx, value, /*below=*/false, kDepth))
    ctx.facts.addLessEqual(local->dim, bound, value->span);
  for (Dim bound : boundsOf(ctx, value, /*below=*/true, kDepth))
    ctx.facts.addLessEqual(bound, local->dim, value->span);
}

} // namespace ptl
