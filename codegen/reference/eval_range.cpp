#include "codegen/reference/eval_range.h"

#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"

namespace ptl::reference {

RangeValue rangeOfInfo(const RunState &run, const RangeInfo &info, Span span) {
  RangeValue range;
  range.start = dimValue(run, info.start, span);
  range.length = dimValue(run, info.length, span);
  range.step = info.step ? dimValue(run, info.step, span) : 1;
  return range;
}

RangeValue evalRange(RunState &run, const Expr &expr) {
  if (expr.kind == ExprKind::Range) {
    const auto &literal = cast<RangeExpr>(expr);
    RangeValue range;
    range.start = evalInt(run, *literal.lo);
    range.step = literal.step ? evalInt(run, *literal.step) : 1;
    if (range.step < 1)
      stop(RunStatus::Arithmetic, "the step of a range is " + std::to_string(range.step),
           expr.span);
    int64_t distance = evalInt(run, *literal.hi) - range.start;
    // Rounded up, without adding the step to a distance that may be near the largest number.
    range.length = distance <= 0 ? 0 : (distance - 1) / range.step + 1;
    return range;
  }
  if (expr.kind == ExprKind::Op && expr.type->range)
    return rangeOfInfo(run, *expr.type->range, expr.span);
  Value value = eval(run, expr);
  if (!value.isRange())
    stop(RunStatus::Fault, "a range has no value", expr.span);
  return value.asRange();
}

} // namespace ptl::reference
