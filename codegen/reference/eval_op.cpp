// Built-ins: from the arguments of the tree to the operations on values.
#include "codegen/reference/machine.h"

#include <algorithm>

namespace ptl::reference {

// ---- Arguments ---------------------------------------------------------------------------------

Value Machine::operand(const OpExpr &expr, size_t index) {
  const Expr *arg = index < expr.args.size() ? expr.args[index] : nullptr;
  return arg ? eval(*arg) : Value();
}

/// The operands in the order of the `Value` parameters, with variadic ones at the place of theirs,
/// and none for one that is left out.
std::vector<Value> Machine::operandsOf(const OpExpr &expr) {
  std::vector<Value> values;
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    const OpParam &param = expr.op->params[i];
    if (param.kind != ParamKind::Value)
      continue;
    if (param.variadic)
      for (const Expr *each : expr.rest)
        values.push_back(eval(*each));
    else
      values.push_back(operand(expr, i));
  }
  return values;
}

/// From the front of an operand of that rank.
std::vector<int64_t> Machine::axesOf(const OpExpr &expr, size_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis : expr.axes)
    axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  return axes;
}

bool Machine::flag(const OpExpr &expr, size_t index) {
  Value value = operand(expr, index);
  return value.isScalar() && value.asScalar().scalar.i != 0;
}

std::string Machine::tag(const OpExpr &expr, size_t index) {
  Value value = operand(expr, index);
  return value.isText() ? value.asText() : std::string();
}

// ---- Built-ins ---------------------------------------------------------------------------------

/// The lengths that a call names: of the result, or of the margins of `pad`.
void Machine::addShape(const OpExpr &expr, BuiltinCall &call) {
  bool isCreated = opRecord(call.op).opClass == OpClass::Creation || call.op == OpId::Random;
  if (isCreated && call.op != OpId::OneHot && call.op != OpId::Index) {
    call.shape = shapeOf(*expr.type, expr.span);
    return;
  }
  std::vector<int64_t> dims;
  for (Dim dim : expr.shape)
    dims.push_back(dimValue(dim, expr.span));
  if (call.op == OpId::Pad) {
    size_t rank = call.operands[0].shape().size(), named = dims.size() / 2;
    call.before.assign(rank, 0);
    call.after.assign(rank, 0);
    std::copy_n(dims.begin(), named, call.before.end() - static_cast<ptrdiff_t>(named));
    std::copy_n(dims.begin() + static_cast<ptrdiff_t>(named), named,
                call.after.end() - static_cast<ptrdiff_t>(named));
    return;
  }
  if (expr.shapeHasPrefix)
    call.shape = frame_->prefix;
  call.shape.insert(call.shape.end(), dims.begin(), dims.end());
}

/// `index(r)` of a range, `index(N)` of a length.
RangeValue Machine::indexRange(const OpExpr &expr) {
  const Expr &arg = *expr.args[0];
  if (arg.type->kind == TypeKind::Range)
    return evalRange(arg);
  RangeValue range;
  range.length = std::max<int64_t>(evalInt(arg), 0);
  return range;
}

/// Adds the values of the record's parameters that are no operands.
void Machine::addParameters(const OpExpr &expr, BuiltinCall &call) {
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    const OpParam &param = expr.op->params[i];
    if (param.kind == ParamKind::Enum) {
      call.text = tag(expr, i);
      call.round = roundModeByName(call.text).value_or(RoundMode::Even);
    } else if (param.kind == ParamKind::BoolConst) {
      (param.name == "saturate" ? call.saturate : call.descending) = flag(expr, i);
    }
  }
  if (call.op == OpId::Einsum)
    call.text = expr.equation;
}

Value Machine::evalBuiltinOp(const OpExpr &expr) {
  BuiltinCall call;
  call.op = expr.op->id;
  if (expr.op->opClass == OpClass::Effect)
    return evalEffect(expr);
  if (call.op == OpId::Index)
    call.range = indexRange(expr);
  call.operands = operandsOf(expr);
  size_t rank =
      call.operands.empty() || call.operands[0].isNone() ? 0 : call.operands[0].shape().size();
  call.axes = axesOf(expr, rank);
  call.all = expr.reducesAll;
  if (expr.type->isArray() || expr.type->isScalar())
    call.elem = elemOf(expr.type->elem);
  addShape(expr, call);
  addParameters(expr, call);
  return applyBuiltin(call);
}

Value Machine::evalEffect(const OpExpr &expr) {
  switch (expr.op->id) {
  case OpId::Print:
    evalPrint(expr);
    break;
  case OpId::Expect:
    evalExpect(expr);
    break;
  case OpId::ExpectEqual:
    evalExpectEqual(expr);
    break;
  case OpId::ExpectClose:
    evalExpectClose(expr);
    break;
  default:
    stop(RunStatus::Fault, "`" + std::string(expr.op->name) + "` is a statement", expr.span);
  }
  return {};
}

// ---- Dispatch ----------------------------------------------------------------------------------

Value Machine::evalOp(const OpExpr &expr) {
  if (expr.type->kind == TypeKind::Range)
    return Value::range(rangeOfInfo(*expr.type->range, expr.span));
  try {
    return evalBuiltinOp(expr);
  } catch (Stop &why) {
    if (why.span.file == kNoFile)
      why.span = expr.span;
    throw;
  }
}

bool isImplemented(OpId op, std::string *reason) {
  auto elsewhere = [&](const char *text) {
    if (reason)
      *reason = text;
    return false;
  };
  const OpRecord &record = opRecord(op);
  if (op == OpId::Load)
    return elsewhere("the checker turns `load` into an index expression with `outside`");
  if (op == OpId::Assert)
    return elsewhere("`assert` is a statement of the tree");
  if (op == OpId::Scan || op == OpId::Reduce)
    return elsewhere("the checker writes calls of `scan` and `reduce` out");
  if (isScalarOp(op))
    return true;
  switch (record.opClass) {
  case OpClass::Reduction:
    return op == OpId::Unique || op == OpId::Sorted || foldStart(op, ElemKind::F32).has_value();
  case OpClass::Scan:
    return foldStart(op, ElemKind::F32).has_value();
  case OpClass::Load:
    return elsewhere("");
  default:
    return true;
  }
}

} // namespace ptl::reference
