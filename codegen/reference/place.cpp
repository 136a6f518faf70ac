#include "codegen/reference/place.h"

namespace ptl::reference {

const Value *peek(RunState &run, const Expr &expr) {
  if (expr.kind == ExprKind::LocalRef)
    return &run.local(*cast<LocalRefExpr>(expr).local);
  if (expr.kind != ExprKind::Field)
    return nullptr;
  const auto &field = cast<FieldExpr>(expr);
  const Value *base = peek(run, *field.base);
  return base && base->isParts() ? &base->asParts()[field.fieldIndex] : nullptr;
}

Value &place(RunState &run, const Expr &expr) {
  if (expr.kind == ExprKind::LocalRef)
    return run.local(*cast<LocalRefExpr>(expr).local);
  if (expr.kind == ExprKind::Field) {
    const auto &field = cast<FieldExpr>(expr);
    Value &base = place(run, *field.base);
    if (base.isParts())
      // Fields of fields are places as well.
      return base.mutableParts()[field.fieldIndex];
  }
  stop(RunStatus::Fault, "this is not a place that can be written", expr.span);
}

} // namespace ptl::reference
