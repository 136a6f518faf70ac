#include "frontend/sema/hoisted_values.h"

#include "frontend/sema/expressions/convert.h"

#include <algorithm>

namespace ptl {

/// Whether `visit` holds for every name in what `isSame` compares, and it compares all of it.
static bool everyName(const Expr *value, bool (*visit)(const Local *)) {
  if (!value || value->dim || value->kind == ExprKind::Const)
    return true;
  if (const auto *name = dyn_cast<LocalRefExpr>(value))
    return visit(name->local);
  if (const auto *convert = dyn_cast<ConvertExpr>(value))
    return everyName(convert->arg, visit);
  const auto *op = dyn_cast<OpExpr>(value);
  return op && op->rest.empty() && std::ranges::all_of(op->args, [&](const Expr *argument) {
           return everyName(argument, visit);
         });
}

static bool isInteger(const Expr *value) {
  const Type *type = value->type;
  return type->isInt() || (type->isScalar() && elemIs(type->elem, ElemConstraint::Integer));
}

/// Whether two expressions of integers have one value while no variable changes: built-ins and
/// conversions of scalars over dimensions and names.
static bool isSame(const Expr *a, const Expr *b) {
  if (!a || !b)
    return a == b;
  if (a->dim || b->dim)
    return a->dim && b->dim && a->dim == b->dim;
  if (a->kind != b->kind || !isInteger(a) || !isInteger(b))
    return false;
  if (a->kind == ExprKind::LocalRef)
    return cast<LocalRefExpr>(a)->local == cast<LocalRefExpr>(b)->local;
  if (const auto *left = dyn_cast<ConvertExpr>(a)) {
    const auto *right = cast<ConvertExpr>(b);
    return left->type->isInt() && right->type->isInt() && left->round == right->round &&
           left->saturate == right->saturate && isSame(left->arg, right->arg);
  }
  if (a->kind != ExprKind::Op)
    return false;
  const auto *left = cast<OpExpr>(a), *right = cast<OpExpr>(b);
  return left->op == right->op && left->rest.empty() && right->rest.empty() &&
         std::ranges::equal(left->args, right->args, isSame);
}

Local *HoistedValues::find(const Expr *value) const {
  for (const Entry &each : entries_)
    if ((each.isFixed || each.changes == changes_) && isSame(each.value, value))
      return each.local;
  return nullptr;
}

void HoistedValues::add(const Expr *value, Local *local) {
  bool isFixed = everyName(value, [](const Local *name) {
    return name->kind == LocalKind::Let || name->kind == LocalKind::Loop ||
           (name->kind == LocalKind::Param && !name->isInout);
  });
  entries_.push_back({value, local, start_, isFixed});
}

} // namespace ptl
