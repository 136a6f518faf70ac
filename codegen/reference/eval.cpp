#include "codegen/reference/eval.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/bind.h"
#include "codegen/reference/call.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval_index.h"
#include "codegen/reference/eval_op.h"
#include "codegen/reference/eval_range.h"
#include "codegen/reference/exec.h"
#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/written.h"
#include "frontend/sema/block/checked_block.h"

namespace ptl::reference {

namespace {

Value evalLocal(RunState &run, const LocalRefExpr &expr) {
  const Local &which = *expr.local;
  Value &value = run.local(which);
  if (value.isNone()) {
    Dim dim = which.dim;
    // Dimensions and ranges have no stored value; they are computed from what the frame knows.
    if (!dim && which.symbol)
      dim = run.program().dims->symbolDim(*which.symbol);
    if (!dim)
      stop(RunStatus::Fault, "`" + which.name + "` has no value", expr.span);
    return Value::integer(dimValue(run, dim, expr.span));
  }
  // Once all elements are written the marks of what is written only cost time.
  if (value.isArray() && !value.asArray().defined.empty() && !value.hasUndefined())
    value.mutableArray().defined.clear();
  checkWritten(run, value, expr.span);
  return value;
}

/// `shift`: element `i` of the axis becomes element `i + by`, round the end.
Value shifted(RunState &run, const ShiftUse &shift, const Value &value, Span span) {
  const RefArray &from = value.asArray();
  size_t axis = from.shape.size() - static_cast<size_t>(-shift.axis);
  int64_t length = from.shape[axis], inner = 1;
  for (size_t i = axis + 1; i < from.shape.size(); ++i)
    inner *= from.shape[i];
  if (from.count() == 0)
    return value;
  int64_t by = (dimValue(run, shift.by, span) % length + length) % length;
  RefArray to = zeroArray(from.elem, from.shape);
  for (int64_t at = 0; at < from.count(); ++at) {
    int64_t position = at / inner % length, moved = (position + by) % length;
    to.set(at + (moved - position) * inner, from.at(at));
  }
  return Value::array(std::move(to));
}

Value evalConvert(RunState &run, const ConvertExpr &expr) {
  Value arg = eval(run, *expr.arg);
  if (expr.shift)
    return shifted(run, *expr.shift, arg, expr.span);
  ElemKind to = elemOf(run, expr.type->elem);
  bool fromPosition = arg.isScalar() && arg.elem() == ElemKind::Int && isInteger(to);
  bool isImplicit = expr.arg->type->isInt() && expr.checkRange;
  if (fromPosition && isImplicit) {
    int64_t value = arg.asScalar().scalar.i;
    bool isUnsigned = elemInfo(to).elemClass == ElemClass::Unsigned;
    // The largest `u64` is no `int`, so only the lower end can be missed there.
    bool fits = to == ElemKind::U64 ? value >= 0
                                    : value >= smallestInteger(to) && value <= largestInteger(to);
    if (!fits || (isUnsigned && value < 0))
      stop(RunStatus::Arithmetic,
           "the value " + std::to_string(value) + " does not fit in `" + std::string(elemName(to)) +
               "`",
           expr.span);
  }
  return convertValue(arg, to, expr.round, expr.saturate);
}

Value evalIf(RunState &run, const IfExpr &expr) {
  bool holds = evalBool(run, *expr.condition);
  run.noteArm(&expr, holds ? Arm::Then : Arm::Else);
  const Block *block = holds ? expr.thenBlock : expr.elseBlock;
  if (!block)
    return {};
  for (const Stmt *stmt : block->stmts)
    if (exec(run, *stmt) != Flow::Next)
      stop(RunStatus::Unsupported, "a jump out of an `if` that is used as a value", stmt->span);
  return block->value ? evalBlockValue(run, *block->value) : Value();
}

Value evalField(RunState &run, const FieldExpr &expr) {
  Value base = eval(run, *expr.base);
  if (base.isParts())
    return base.asParts()[expr.fieldIndex];
  if (!base.isRange())
    stop(RunStatus::Fault, "`" + expr.field + "` of a value without fields", expr.span);
  const RangeValue &range = base.asRange();
  if (expr.field == "start")
    return Value::integer(range.start);
  if (expr.field == "end")
    return Value::integer(range.end());
  if (expr.field == "len")
    return Value::integer(range.length);
  return Value::integer(expr.field == "size" ? range.size : range.count);
}

Value evalLogical(RunState &run, const LogicalExpr &expr) {
  bool lhs = evalBool(run, *expr.lhs);
  run.noteArm(&expr, lhs == expr.isAnd ? Arm::Right : Arm::OnlyLeft);
  return Value::boolean(lhs == expr.isAnd ? evalBool(run, *expr.rhs) : lhs);
}

Value evalElements(RunState &run, const std::vector<Expr *> &elements) {
  Value::Parts parts;
  for (const Expr *element : elements)
    parts.push_back(eval(run, *element));
  return Value::parts(std::move(parts));
}

} // namespace

Value eval(RunState &run, const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Const:
    return valueOfConst(cast<ConstExpr>(expr), elemOf(run, expr.type->elem));
  case ExprKind::LocalRef:
    return evalLocal(run, cast<LocalRefExpr>(expr));
  case ExprKind::Dim:
    return Value::integer(dimValue(run, expr.dim, expr.span));
  case ExprKind::Op: {
    Value made = evalOp(run, cast<OpExpr>(expr));
    run.countElements(made, expr.span);
    return made;
  }
  case ExprKind::Convert:
    return evalConvert(run, cast<ConvertExpr>(expr));
  case ExprKind::Call:
    return evalCall(run, cast<CallExpr>(expr));
  case ExprKind::Index:
    return evalIndex(run, cast<IndexExpr>(expr));
  case ExprKind::If:
    return evalIf(run, cast<IfExpr>(expr));
  case ExprKind::Range:
    return Value::range(evalRange(run, expr));
  case ExprKind::Field:
    return evalField(run, cast<FieldExpr>(expr));
  case ExprKind::Logical:
    return evalLogical(run, cast<LogicalExpr>(expr));
  case ExprKind::Tuple:
    return evalElements(run, cast<TupleExpr>(expr).elements);
  case ExprKind::List:
    return evalElements(run, cast<ListExpr>(expr).elements);
  case ExprKind::StructMake:
    return evalElements(run, cast<StructMakeExpr>(expr).fields);
  case ExprKind::String:
    return Value::text(cast<StringExpr>(expr).value);
  case ExprKind::Block: { // sections of ordinary kernels: what one pushes is what the other pops
    const auto &call = cast<BlockExpr>(expr);
    if (!call.value)
      break;
    if (call.op == BlockOp::Push)
      bindLocal(run, *call.value, eval(run, *call.ins[0]));
    return run.local(*call.value);
  }
  case ExprKind::EnumTag:
    return Value::text(cast<EnumTagExpr>(expr).tag);
  case ExprKind::Tiles:
  case ExprKind::Error:
    break;
  }
  stop(RunStatus::Fault, "an expression that has no value", expr.span);
}

Value valueOfConst(const ConstExpr &expr, ElemKind elem) {
  Scalar value{expr.floatValue, expr.intValue};
  // A literal of a generic type is one number, whichever field holds it.
  if (expr.type->elem.param) {
    if (isFloat(elem) && value.f == 0)
      value.f = static_cast<double>(expr.intValue);
    if (!isFloat(elem) && value.i == 0)
      value.i = static_cast<int64_t>(expr.floatValue);
    value = roundScalar(value, elem);
  }
  return Value::scalar(elem, isFloat(elem) ? Scalar::real(value.f) : Scalar::integer(value.i));
}

Value evalBlockValue(RunState &run, const Expr &value) {
  if (!run.options().observer)
    return eval(run, value);
  return run.observed(stepOf(value), [&] { return eval(run, value); });
}

int64_t evalInt(RunState &run, const Expr &expr) {
  Value value = eval(run, expr);
  if (!value.isScalar())
    stop(RunStatus::Fault, "an integer scalar is needed", expr.span);
  return value.asScalar().scalar.i;
}

bool evalBool(RunState &run, const Expr &expr) {
  Value value = eval(run, expr);
  if (!value.isScalar())
    stop(RunStatus::Fault, "a condition is not a scalar", expr.span);
  return value.asScalar().scalar.i != 0;
}

} // namespace ptl::reference
