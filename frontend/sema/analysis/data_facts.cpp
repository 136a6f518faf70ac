#include "frontend/sema/analysis/data_facts.h"

#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/walk.h"
#include "ir/ops/op_table.h"

namespace ptl {

namespace {
/// What is known of all elements of an array.
struct ElementBounds {
  bool atLeastZero = false;
  std::vector<Dim> below; ///< all elements are less
};
} // namespace

const Expr *withoutWidening(const Expr *expr) {
  auto bits = [](const Type *type) {
    // `int` counts as 64 bits, and what is no integer as none.
    return type->isInt() ? 64u : isInteger(type->elem.kind) ? elemBits(type->elem.kind) : 0u;
  };
  while (expr && expr->kind == ExprKind::Convert) {
    const auto *convert = cast<ConvertExpr>(expr);
    bool isPlain = !expr->type->elem.param && !convert->arg->type->elem.param;
    unsigned from = isPlain ? bits(convert->arg->type) : 0;
    // A conversion to fewer bits keeps different integers different only if it is checked.
    if (from == 0 || (bits(expr->type) < from && !convert->checkRange) || convert->saturate)
      return expr;
    expr = convert->arg;
  }
  return expr;
}

/// Whether a conversion leaves all values as they are.
static bool keepsValues(Context &ctx, const ConvertExpr &convert) {
  const Type *from = convert.arg->type, *to = convert.type;
  bool isInteger = elemIs(from->elem, ElemConstraint::Integer) &&
                   elemIs(to->elem, ElemConstraint::Integer) && !from->elem.param &&
                   !to->elem.param;
  if (!isInteger || convert.saturate)
    return false;
  auto bits = [](const Type *type) { return type->isInt() ? 64u : elemBits(type->elem.kind); };
  auto hasSign = [](const Type *type) { return type->isInt() || isSigned(type->elem.kind); };
  // Widening keeps values, also from unsigned to a wider signed type.
  if (hasSign(from) == hasSign(to) ? bits(to) >= bits(from)
                                   : !hasSign(from) && bits(to) > bits(from))
    return true;
  // What does not fit has stopped, or is known to fit.
  if (convert.checkRange || !convert.arg->dim)
    return convert.checkRange;
  // The sign takes one bit of the type.
  unsigned magnitude = bits(to) - (hasSign(to) ? 1 : 0);
  int64_t high = magnitude >= 63 ? INT64_MAX : (int64_t(1) << magnitude) - 1;
  return ctx.facts.isWithin(convert.arg->dim, hasSign(to) ? -high - 1 : 0, high);
}

const Expr *withoutConversion(Context &ctx, const Expr *expr) {
  while (expr && expr->kind == ExprKind::Convert && keepsValues(ctx, *cast<ConvertExpr>(expr)))
    expr = cast<ConvertExpr>(expr)->arg;
  return expr;
}

static Dim boundOf(Context &ctx, const Expr *expr) {
  expr = withoutConversion(ctx, expr);
  if (expr && expr->kind == ExprKind::Const && elemIs(expr->type->elem, ElemConstraint::Integer))
    return ctx.dims.constant(cast<ConstExpr>(expr)->intValue);
  return expr ? expr->dim : Dim();
}

static bool refersTo(Context &ctx, const Expr *expr, const Local *local) {
  expr = withoutConversion(ctx, expr);
  return expr && expr->kind == ExprKind::LocalRef && cast<LocalRefExpr>(expr)->local == local;
}

/// Adds what `array op bound` says.
static void addComparison(Context &ctx, ElementBounds &bounds, std::string_view op, Dim bound) {
  if (!bound)
    return;
  Dim one = ctx.dims.constant(1), zero = ctx.dims.constant(0);
  if (op == "<")
    bounds.below.push_back(bound);
  else if (op == "<=")
    bounds.below.push_back(ctx.dims.add(bound, one));
  else if (op == ">=")
    bounds.atLeastZero |= ctx.facts.proveLessEqual(zero, bound).isTrue();
  else if (op == ">")
    // `x > b` with integers is `x >= b + 1`, so `b` may be -1.
    bounds.atLeastZero |=
        ctx.facts.proveLess(zero, ctx.dims.add(bound, ctx.dims.constant(2))).isTrue();
}

static std::string_view mirrored(std::string_view op) {
  return op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
}

static void readCondition(Context &ctx, const Expr *condition, const Local *array,
                          ElementBounds &bounds) {
  if (isMissing(condition))
    return;
  if (const auto *logical = dyn_cast<LogicalExpr>(condition)) {
    // Of an `or` neither side holds for sure.
    if (!logical->isAnd)
      return;
    readCondition(ctx, logical->lhs, array, bounds);
    readCondition(ctx, logical->rhs, array, bounds);
    return;
  }
  const auto *op = dyn_cast<OpExpr>(condition);
  if (!op)
    return;
  if (!op->op || op->args.empty() || !op->args[0])
    return;
  if (op->op->name == "all" || (op->op->name == "and" && !condition->type->isScalar())) {
    for (const Expr *arg : op->args)
      readCondition(ctx, arg, array, bounds);
    return;
  }
  // A permutation holds the positions `0..n`.
  if (op->op->name == "permutation" && refersTo(ctx, op->args[0], array)) {
    bounds.atLeastZero = true;
    if (!array->type->extents.empty())
      bounds.below.push_back(array->type->extents[0].length);
    return;
  }
  if (op->op->opClass != OpClass::Comparison || op->args.size() != 2)
    return;
  if (refersTo(ctx, op->args[0], array))
    addComparison(ctx, bounds, op->op->name, boundOf(ctx, op->args[1]));
  // With the array on the right the comparison is read backwards.
  else if (refersTo(ctx, op->args[1], array))
    addComparison(ctx, bounds, mirrored(op->op->name), boundOf(ctx, op->args[0]));
}

/// What the requirements and the type of an array say of its elements.
static ElementBounds boundsOfAll(Context &ctx, const Local *array) {
  ElementBounds bounds;
  // Only a parameter that nobody writes keeps what a requirement says of it.
  bool isParam = array && array->kind == LocalKind::Param && !array->isInout;
  if (!isParam || !ctx.decl || !array->type->isArray())
    return bounds;
  Elem elem = array->type->elem;
  // Unsigned elements are not negative by their type; narrow ones are bounded by it too.
  bounds.atLeastZero = !elem.param && isInteger(elem.kind) && !isSigned(elem.kind);
  if (bounds.atLeastZero && elemBits(elem.kind) < 32)
    bounds.below.push_back(ctx.dims.constant(int64_t(1) << elemBits(elem.kind)));
  for (const WhereClause &where : ctx.decl->wheres)
    readCondition(ctx, where.condition, array, bounds);
  return bounds;
}

/// The array that an expression is a part of, or all of. What lies outside of a load is no element.
static const Local *arrayBehind(const Expr *expr) {
  while (const auto *index = dyn_cast_if_present<IndexExpr>(expr)) {
    if (index->outside)
      return nullptr;
    expr = index->base;
  }
  const auto *name = dyn_cast_if_present<LocalRefExpr>(expr);
  return name ? name->local : nullptr;
}

std::vector<Dim> elementBounds(Context &ctx, const Expr *element, bool below) {
  const Local *array = arrayBehind(element);
  if (!array || !elemIs(element->type->elem, ElemConstraint::Integer))
    return {};
  ElementBounds bounds = boundsOfAll(ctx, array);
  if (below)
    return bounds.atLeastZero ? std::vector{ctx.dims.constant(0)} : std::vector<Dim>();
  for (Dim &bound : bounds.below)
    bound = ctx.dims.sub(bound, ctx.dims.constant(1));
  return bounds.below;
}

bool valuesWithin(Context &ctx, const Local *array, Dim extent) {
  ElementBounds bounds = boundsOfAll(ctx, array);
  if (!extent || !bounds.atLeastZero)
    return false;
  for (Dim below : bounds.below)
    if (ctx.facts.proveLessEqual(below, extent).isTrue())
      return true;
  return false;
}

bool elementsWithin(Context &ctx, const Expr *index, Dim extent) {
  index = withoutWidening(index);
  // An element with a name: `let p = idx[i]`.
  while (index && index->kind == ExprKind::LocalRef) {
    auto named = ctx.letValues.find(cast<LocalRefExpr>(index)->local);
    if (named == ctx.letValues.end())
      break;
    index = withoutWidening(named->second);
  }
  return valuesWithin(ctx, arrayBehind(index), extent);
}

} // namespace ptl
