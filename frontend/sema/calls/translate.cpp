#include "frontend/sema/calls/translate.h"

#include "frontend/sema/make_node.h"

namespace ptl {

/// A length of the callee in terms of the caller; it stands where the callee names it.
static Expr *lengthAt(const Translator &translator, Dim length, Span span) {
  Expr *value = dimValue(translator.ctx, length, kNoNode);
  value->span = span;
  return value;
}

Dim Translator::inCaller(Dim dim) const {
  Dim result = unifier.substitute(dim);
  isTooLarge |= !result && unifier.hasKnownParts(dim);
  return result;
}

Expr *Translator::translateLocal(const LocalRefExpr *ref) const {
  for (const CallArg &arg : call->args)
    if (arg.param == ref->local)
      return arg.value;
  for (const auto &[tunable, value] : call->tunables)
    if (tunable == ref->local)
      return value;
  // A constant is the same in the caller; other locals that are no parameters are unknown there, so
  // a condition about them is not checked at the call.
  if (ref->local->kind == LocalKind::Const)
    return ctx.program.make<LocalRefExpr>(*ref);
  if (!ref->dim)
    return nullptr;
  if (ref->local->kind == LocalKind::Tunable) {
    for (const Tunable &tunable : callee.tunables)
      if (tunable.local == ref->local)
        return lengthAt(*this, ctx.dims.constant(tunable.defaultValue), ref->span);
    return nullptr;
  }
  return lengthAt(*this, inCaller(ref->dim), ref->span);
}

Expr *Translator::translateOp(const OpExpr *op) const {
  auto *copy = ctx.program.make<OpExpr>(*op);
  for (Expr *&arg : copy->args)
    if (arg && !(arg = translate(arg)))
      return nullptr;
  for (Expr *&arg : copy->rest)
    if (!(arg = translate(arg)))
      return nullptr;
  for (Dim &dim : copy->shape)
    dim = inCaller(dim);
  return copy;
}

Expr *Translator::translateIndex(const IndexExpr *index) const {
  auto *copy = ctx.program.make<IndexExpr>(*index);
  copy->base = translate(index->base);
  if (!copy->base)
    return nullptr;
  for (IndexItem &item : copy->items) {
    if (item.value && !(item.value = translate(item.value)))
      return nullptr;
    if (item.range) {
      RangeInfo *range = ctx.program.make<RangeInfo>(*item.range);
      range->start = inCaller(range->start);
      range->length = inCaller(range->length);
      range->step = inCaller(range->step);
      item.range = range;
    }
  }
  return copy;
}

Expr *Translator::translate(const Expr *expr) const {
  if (!expr)
    return nullptr;
  Expr *result = nullptr;
  switch (expr->kind) {
  case ExprKind::Const:
    return ctx.program.make<ConstExpr>(*cast<ConstExpr>(expr));
  case ExprKind::LocalRef:
    return translateLocal(cast<LocalRefExpr>(expr));
  case ExprKind::Dim:
    return lengthAt(*this, inCaller(expr->dim), expr->span);
  case ExprKind::Op:
    result = translateOp(cast<OpExpr>(expr));
    break;
  case ExprKind::Index:
    result = translateIndex(cast<IndexExpr>(expr));
    break;
  case ExprKind::Convert: {
    auto *copy = ctx.program.make<ConvertExpr>(*cast<ConvertExpr>(expr));
    copy->arg = translate(copy->arg);
    result = copy->arg ? copy : nullptr;
    break;
  }
  case ExprKind::Logical: {
    auto *copy = ctx.program.make<LogicalExpr>(*cast<LogicalExpr>(expr));
    copy->lhs = translate(copy->lhs);
    copy->rhs = translate(copy->rhs);
    result = copy->lhs && copy->rhs ? copy : nullptr;
    break;
  }
  case ExprKind::Range: {
    auto *copy = ctx.program.make<RangeExpr>(*cast<RangeExpr>(expr));
    copy->lo = translate(copy->lo);
    copy->hi = translate(copy->hi);
    copy->step = copy->step ? translate(copy->step) : nullptr;
    result = copy->lo && copy->hi ? copy : nullptr;
    break;
  }
  default:
    return nullptr;
  }
  if (!result)
    return nullptr;
  // The type and the length are in the names of the callee; here they have to be in those of the caller.
  result->type = unifier.substitute(expr->type);
  result->dim = inCaller(expr->dim);
  return result;
}

void collectSymbols(const Expr *expr, std::vector<SymbolId> &symbols) {
  if (!expr)
    return;
  if (expr->dim)
    forEachSymbol(expr->dim, [&](SymbolId symbol) { symbols.push_back(symbol); });
  if (expr->kind == ExprKind::Op)
    for (const Expr *arg : cast<OpExpr>(expr)->args)
      collectSymbols(arg, symbols);
  if (expr->kind == ExprKind::Logical) {
    collectSymbols(cast<LogicalExpr>(expr)->lhs, symbols);
    collectSymbols(cast<LogicalExpr>(expr)->rhs, symbols);
  }
}

} // namespace ptl
