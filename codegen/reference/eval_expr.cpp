// Expressions other than built-ins, indexing and calls.
#include "codegen/reference/machine.h"
#include "frontend/sema/block/checked_block.h"

namespace ptl::reference {

Value Machine::eval(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Const:
    return valueOfConst(cast<ConstExpr>(expr), elemOf(expr.type->elem));
  case ExprKind::LocalRef:
    return evalLocal(cast<LocalRefExpr>(expr));
  case ExprKind::Dim:
    return Value::integer(dimValue(expr.dim, expr.span));
  case ExprKind::Op: {
    Value made = evalOp(cast<OpExpr>(expr));
    if (made.isArray() && (elements_ += made.asArray().count()) > options_.mostElements)
      stop(RunStatus::Memory, "operations give more elements than are allowed", expr.span);
    return made;
  }
  case ExprKind::Convert:
    return evalConvert(cast<ConvertExpr>(expr));
  case ExprKind::Call:
    return evalCall(cast<CallExpr>(expr));
  case ExprKind::Index:
    return evalIndex(cast<IndexExpr>(expr));
  case ExprKind::If:
    return evalIf(cast<IfExpr>(expr));
  case ExprKind::Range:
    return Value::range(evalRange(expr));
  case ExprKind::Field:
    return evalField(cast<FieldExpr>(expr));
  case ExprKind::Logical:
    return evalLogical(cast<LogicalExpr>(expr));
  case ExprKind::Tuple:
    return evalElements(cast<TupleExpr>(expr).elements);
  case ExprKind::List:
    return evalElements(cast<ListExpr>(expr).elements);
  case ExprKind::StructMake:
    return evalElements(cast<StructMakeExpr>(expr).fields);
  case ExprKind::String:
    return Value::text(cast<StringExpr>(expr).value);
  case ExprKind::Block: { // sections of ordinary kernels: what one pushes is what the other pops
    const auto &call = cast<BlockExpr>(expr);
    if (!call.value)
      break;
    if (call.op == BlockOp::Push)
      bindLocal(*call.value, eval(*call.ins[0]));
    return local(*call.value);
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

/// Stops when an element of what is read was never written.
Value Machine::readable(const Value &value, const Expr &expr) {
  if (!value.hasUndefined())
    return value;
  std::string where;
  if (value.isArray()) {
    const RefArray &array = value.asArray();
    std::vector<int64_t> strides = denseStrides(array.shape), at;
    int64_t position = 0;
    while (array.defined[static_cast<size_t>(position)])
      ++position;
    for (size_t i = 0; i < strides.size(); ++i)
      at.push_back(position / strides[i] % array.shape[i]);
    where = ", first at " + shapeText(at);
  }
  stop(RunStatus::Uninitialised, "`" + textOf(expr.span) + "` is read before it is written" + where,
       expr.span);
}

Value Machine::evalLocal(const LocalRefExpr &expr) {
  const Local &which = *expr.local;
  Value &value = local(which);
  if (value.isNone()) {
    Dim dim = which.dim;
    if (!dim && which.symbol)
      dim = program_.dims->symbolDim(*which.symbol);
    if (!dim)
      stop(RunStatus::Fault, "`" + which.name + "` has no value", expr.span);
    return Value::integer(dimValue(dim, expr.span));
  }
  if (value.isArray() && !value.asArray().defined.empty() && !value.hasUndefined())
    value.mutableArray().defined.clear();
  return readable(value, expr);
}

Value Machine::evalConvert(const ConvertExpr &expr) {
  Value arg = eval(*expr.arg);
  ElemKind to = elemOf(expr.type->elem);
  bool fromPosition = arg.isScalar() && arg.elem() == ElemKind::Int && isInteger(to);
  bool isImplicit = expr.arg->type->isInt() && expr.checkRange;
  if (fromPosition && isImplicit) {
    int64_t value = arg.asScalar().scalar.i;
    bool isUnsigned = elemInfo(to).elemClass == ElemClass::Unsigned;
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

Value Machine::evalIf(const IfExpr &expr) {
  bool holds = evalBool(*expr.condition);
  noteArm(&expr, holds ? Arm::Then : Arm::Else);
  const Block *block = holds ? expr.thenBlock : expr.elseBlock;
  if (!block)
    return {};
  for (const Stmt *stmt : block->stmts)
    if (exec(*stmt) != Flow::Next)
      stop(RunStatus::Unsupported, "a jump out of an `if` that is used as a value", stmt->span);
  return block->value ? evalBlockValue(*block->value) : Value();
}

/// The last expression of a block is a step like its statements.
Value Machine::evalBlockValue(const Expr &value) {
  if (!options_.observer)
    return eval(value);
  return observed(stepOf(value), [&] { return eval(value); });
}

Value Machine::evalField(const FieldExpr &expr) {
  Value base = eval(*expr.base);
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

Value Machine::evalLogical(const LogicalExpr &expr) {
  bool lhs = evalBool(*expr.lhs);
  noteArm(&expr, lhs == expr.isAnd ? Arm::Right : Arm::OnlyLeft);
  return Value::boolean(lhs == expr.isAnd ? evalBool(*expr.rhs) : lhs);
}

Value Machine::evalElements(const std::vector<Expr *> &elements) {
  Value::Parts parts;
  for (const Expr *element : elements)
    parts.push_back(eval(*element));
  return Value::parts(std::move(parts));
}

// ---- Ranges and scalars ------------------------------------------------------------------------

RangeValue Machine::rangeOfInfo(const RangeInfo &info, Span span) {
  RangeValue range;
  range.start = dimValue(info.start, span);
  range.length = dimValue(info.length, span);
  range.step = info.step ? dimValue(info.step, span) : 1;
  return range;
}

/// A range literal has no positions when its end lies before its start.
RangeValue Machine::evalRange(const Expr &expr) {
  if (expr.kind == ExprKind::Range) {
    const auto &literal = cast<RangeExpr>(expr);
    RangeValue range;
    range.start = evalInt(*literal.lo);
    range.step = literal.step ? evalInt(*literal.step) : 1;
    if (range.step < 1)
      stop(RunStatus::Arithmetic, "the step of a range is " + std::to_string(range.step),
           expr.span);
    int64_t distance = evalInt(*literal.hi) - range.start;
    range.length = distance <= 0 ? 0 : (distance - 1) / range.step + 1;
    return range;
  }
  if (expr.kind == ExprKind::Op && expr.type->range)
    return rangeOfInfo(*expr.type->range, expr.span);
  Value value = eval(expr);
  if (!value.isRange())
    stop(RunStatus::Fault, "a range has no value", expr.span);
  return value.asRange();
}

int64_t Machine::evalInt(const Expr &expr) {
  Value value = eval(expr);
  if (!value.isScalar())
    stop(RunStatus::Fault, "an integer scalar is needed", expr.span);
  return value.asScalar().scalar.i;
}

bool Machine::evalBool(const Expr &expr) {
  Value value = eval(expr);
  if (!value.isScalar())
    stop(RunStatus::Fault, "a condition is no scalar", expr.span);
  return value.asScalar().scalar.i != 0;
}

std::string Machine::textOf(Span span) const {
  return span.file == kNoFile ? std::string() : std::string(sources_.text(span));
}

} // namespace ptl::reference
