#include "frontend/sema/reported.h"

#include "frontend/base/source.h"
#include "frontend/sema/walk.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

static bool isNamed(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::LocalRef:
  case ExprKind::Dim:
    return true;
  case ExprKind::Field:
    return isNamed(*cast<FieldExpr>(expr).base);
  default:
    return false;
  }
}

std::vector<const Expr *> reportedValues(const Expr &condition, const SourceManager &sources) {
  std::vector<const Expr *> values;
  auto add = [&](const Expr &expr) {
    bool isConstant = expr.kind == ExprKind::Const ||
                      (!isNamed(expr) && expr.dim.isKnown() && expr.dim.isConstant());
    if (isConstant || !expr.type->isScalar() || expr.span.file == kNoFile ||
        expr.span.begin == expr.span.end)
      return;
    auto sameText = [&](const Expr *other) {
      return sources.text(other->span) == sources.text(expr.span);
    };
    // A value that is written twice is the same, since conditions have no effects.
    if (std::none_of(values.begin(), values.end(), sameText))
      values.push_back(&expr);
  };
  if (condition.kind == ExprKind::Op) {
    const auto &op = cast<OpExpr>(condition);
    if (op.op->opClass == OpClass::Comparison)
      for (const Expr *operand : op.args)
        if (operand)
          add(*operand);
  }
  forEachExpr(&condition, [&](const Expr *expr) {
    if (isNamed(*expr))
      add(*expr);
  });
  return values;
}

} // namespace ptl
