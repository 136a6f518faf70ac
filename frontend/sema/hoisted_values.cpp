#include "frontend/sema/hoisted_values.h"

#include <algorithm>

namespace ptl {

/// Whether two expressions of integers have one value while no variable changes: built-ins of
/// scalars over dimensions and variables.
static bool isSame(const Expr *a, const Expr *b) {
  if (!a || !b)
    return a == b;
  if (a->dim || b->dim)
    return a->dim && b->dim && a->dim == b->dim;
  if (a->kind != b->kind || !a->type->isInt() || !b->type->isInt())
    return false;
  if (a->kind == ExprKind::LocalRef)
    return cast<LocalRefExpr>(a)->local == cast<LocalRefExpr>(b)->local;
  if (a->kind != ExprKind::Op)
    return false;
  const auto *left = cast<OpExpr>(a), *right = cast<OpExpr>(b);
  return left->op == right->op && left->rest.empty() && right->rest.empty() &&
         std::ranges::equal(left->args, right->args, isSame);
}

Local *HoistedValues::find(const Expr *value) const {
  for (const Entry &each : entries_)
    if (each.changes == changes_ && isSame(each.value, value))
      return each.local;
  return nullptr;
}

} // namespace ptl
