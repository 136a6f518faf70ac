// Bounds of computed integers: what `min`, `max` and `%` say of a value that is no dimension, and
// what a `where` says of elements. So a length that data decides has a capacity,
// `let n = min(int(count[b]), 64)`, and positions need no check: `gather(x, argsort(x), axis: 0)`.
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

Bounds boundsOf(Context &ctx, const Expr *expr, bool below, int depth);

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
  // The bits of a `u64` may be those of a negative number.
  const Elem &elem = expr->type->elem;
  bool isNumber = expr->type->isInt() || (expr->type->isScalar() && !elem.param &&
                                          isInteger(elem.kind) && elem.kind != ElemKind::U64);
  if (expr->kind == ExprKind::Const && isNumber)
    return ctx.dims.constant(cast<ConstExpr>(expr)->intValue);
  return expr->dim;
}

/// Bounds that hold for the elements of both.
Bounds boundsOfBoth(Context &ctx, const Bounds &first, const Bounds &second, bool below) {
  Bounds both;
  for (Dim a : first)
    for (Dim b : second)
      both.push_back(below ? ctx.dims.min(a, b) : ctx.dims.max(a, b));
  return both;
}

/// Of an operation that only moves elements: the bounds of all arrays whose elements the result may
/// have. `gather` has one with positions among them if those have the same type; then the bounds are
/// less sharp.
Bounds boundsOfMoved(Context &ctx, const OpExpr &op, bool below, int depth) {
  std::vector<const Expr *> moved;
  auto add = [&](const Expr *arg) {
    if (arg && !isMissing(arg) && arg->type->elem == op.type->elem)
      moved.push_back(arg);
  };
  std::for_each(op.args.begin(), op.args.end(), add);
  std::for_each(op.rest.begin(), op.rest.end(), add);
  Bounds bounds;
  for (size_t i = 0; i < moved.size(); ++i) {
    Bounds next = boundsOf(ctx, moved[i], below, depth - 1);
    bounds = i == 0 ? next : boundsOfBoth(ctx, bounds, next, below);
  }
  return bounds;
}

/// The positions that `let (values, positions) = topk(x, k)` names lie within the last axis of `x`.
Bounds boundsOfPart(Context &ctx, const Expr *name, bool below) {
  const auto *ref = dyn_cast<LocalRefExpr>(name);
  auto part = ref ? ctx.letParts.find(ref->local) : ctx.letParts.end();
  if (part == ctx.letParts.end() || part->second.second != 1)
    return {};
  const auto *op = dyn_cast<OpExpr>(part->second.first);
  if (!op || !op->op || op->op->id != OpId::Topk || op->args.front()->type->extents.empty())
    return {};
  Dim length = op->args.front()->type->extents.back().length;
  return {below ? ctx.dims.constant(0) : ctx.dims.sub(length, ctx.dims.constant(1))};
}

/// Bounds of what operations make that are not arithmetic; nothing for others.
Bounds boundsOfMade(Context &ctx, const OpExpr &op, bool below, int depth) {
  DimContext &dims = ctx.dims;
  switch (op.op->id) {
  case OpId::Argsort: {
    // The elements are positions of the axis, which is the last one or a named one.
    size_t rank = op.type->extents.size();
    size_t axis = rank - static_cast<size_t>(op.axes.empty() ? 1 : -op.axes.front());
    if (axis >= rank)
      return {};
    Dim length = op.type->extents[axis].length;
    return {below ? dims.constant(0) : dims.sub(length, dims.constant(1))};
  }
  case OpId::Sort:
    return boundsOf(ctx, op.args.front(), below, depth - 1);
  // These write zeros, which their operands need not have.
  case OpId::Tril:
  case OpId::Triu:
  // A `scatter` may add.
  case OpId::Scatter:
    return {};
  default:
    return op.op->linearity == Linearity::Moves ? boundsOfMoved(ctx, op, below, depth) : Bounds();
  }
}

/// Dimensions that the value, or each element of an array, is no less than (`below`), or no more
/// than.
Bounds boundsOf(Context &ctx, const Expr *expr, bool below, int depth) {
  expr = lookedThrough(ctx, expr);
  if (isMissing(expr))
    return {};
  if (Dim dim = known(ctx, expr))
    return {dim};
  if (depth == 0 || !(expr->type->isScalar() || expr->type->isArray()))
    return {};
  DimContext &dims = ctx.dims;
  if (Bounds bounds = elementBounds(ctx, expr, below); !bounds.empty())
    return bounds;
  if (Bounds bounds = boundsOfPart(ctx, expr, below); !bounds.empty())
    return bounds;
  // A part of an array has the bounds of the whole.
  if (const auto *index = dyn_cast<IndexExpr>(expr))
    return index->outside ? Bounds() : boundsOf(ctx, index->base, below, depth - 1);
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
  if (!least && !most) {
    const auto *made = dyn_cast<OpExpr>(expr);
    return made && made->op ? boundsOfMade(ctx, *made, below, depth) : Bounds();
  }
  const OpExpr *op = least ? least : most;
  Bounds first = boundsOf(ctx, op->args[0], below, depth - 1),
         second = boundsOf(ctx, op->args[1], below, depth - 1);
  // One of the operands bounds a `min` from above and a `max` from below.
  if (below == (most != nullptr)) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  // The other way round a bound must hold for both operands, so bounds are combined in pairs.
  return boundsOfBoth(ctx, first, second, below);
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

bool positionsWithin(Context &ctx, const Expr *positions, Dim extent) {
  return elementsWithin(ctx, positions, extent) || staysWithin(ctx, positions, extent);
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
