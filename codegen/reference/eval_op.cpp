// Built-ins: from the arguments of the tree to the operations on values.
#include "codegen/reference/machine.h"

#include <algorithm>
#include <numeric>

namespace ptl::reference {

// ---- Arguments ---------------------------------------------------------------------------------

Value Machine::operand(const OpExpr &expr, size_t index) {
  const Expr *arg = index < expr.args.size() ? expr.args[index] : nullptr;
  return arg ? eval(*arg) : Value();
}

/// All operands in order, the variadic ones at the place of theirs.
std::vector<Value> Machine::operandsOf(const OpExpr &expr) {
  std::vector<Value> values;
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    const OpParam &param = expr.op->params[i];
    if (param.kind != ParamKind::Value)
      continue;
    if (param.variadic)
      for (const Expr *each : expr.rest)
        values.push_back(eval(*each));
    else if (i < expr.args.size() && expr.args[i])
      values.push_back(eval(*expr.args[i]));
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

// ---- Groups ------------------------------------------------------------------------------------

Value Machine::evalReduction(const OpExpr &expr) {
  Value x = operand(expr, 0);
  switch (expr.op->id) {
  case OpId::Unique:
    return isUnique(x);
  case OpId::Sorted:
    return isSorted(x);
  case OpId::Cumsum:
  case OpId::Cumprod:
  case OpId::Cummax:
  case OpId::Cummin: {
    std::vector<int64_t> axes = axesOf(expr, x.shape().size());
    return scanValue(expr.op->id, x,
                     axes.empty() ? static_cast<int64_t>(x.shape().size()) - 1 : axes[0]);
  }
  case OpId::ReduceArgmax:
  case OpId::ReduceArgmin: {
    std::vector<int64_t> axes = axesOf(expr, x.shape().size());
    return argReduce(expr.op->id, x,
                     expr.reducesAll || axes.empty() ? std::nullopt : std::optional(axes[0]));
  }
  default:
    return reduceValue(expr.op->id, x, axesOf(expr, x.shape().size()), expr.reducesAll);
  }
}

static std::vector<int64_t> transposedAxes(std::vector<int64_t> named, size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (named.empty())
    std::swap(axes[rank - 1], axes[rank - 2]);
  for (size_t i = 0; i < named.size(); ++i) // Leading axes of `..` stay where they are.
    axes[rank - named.size() + i] = named[i];
  return axes;
}

Value Machine::evalShapeOp(const OpExpr &expr) {
  std::vector<int64_t> dims;
  for (Dim dim : expr.shape)
    dims.push_back(dimValue(dim, expr.span));
  std::vector<int64_t> shape = expr.shapeHasPrefix ? frame_->prefix : std::vector<int64_t>();
  shape.insert(shape.end(), dims.begin(), dims.end());
  if (expr.op->id == OpId::Concat) {
    std::vector<Value> values = operandsOf(expr);
    return concatValues(values, axesOf(expr, values[0].shape().size())[0]);
  }
  Value x = operand(expr, 0);
  size_t rank = x.shape().size();
  switch (expr.op->id) {
  case OpId::Reshape:
    return reshapeValue(x, std::move(shape));
  case OpId::Broadcast:
    return broadcastValue(x, std::move(shape));
  case OpId::Transpose:
    return transposeValue(x, transposedAxes(axesOf(expr, rank), rank));
  case OpId::Pad: {
    std::vector<int64_t> before(rank, 0), after(rank, 0);
    size_t named = dims.size() / 2;
    std::copy_n(dims.begin(), named, before.end() - static_cast<ptrdiff_t>(named));
    std::copy_n(dims.begin() + static_cast<ptrdiff_t>(named), named,
                after.end() - static_cast<ptrdiff_t>(named));
    return padValue(x, operand(expr, 1).asScalar().scalar, before, after);
  }
  case OpId::Interleave:
    return interleaveValues(x, operand(expr, 1));
  case OpId::Deinterleave:
    return deinterleaveValue(x);
  default: {
    Value diagonal = operand(expr, 1);
    return triangleValue(x, diagonal.isScalar() ? diagonal.asScalar().scalar.i : 0,
                         expr.op->id == OpId::Tril);
  }
  }
}

/// Products, gathers and orderings.
Value Machine::evalData(const OpExpr &expr) {
  if (expr.op->id == OpId::Einsum) {
    std::vector<Value> operands = operandsOf(expr);
    return einsumValue(expr.equation, operands);
  }
  Value x = operand(expr, 0);
  std::vector<int64_t> axes = axesOf(expr, x.shape().size());
  int64_t axis = axes.empty() ? static_cast<int64_t>(x.shape().size()) - 1 : axes[0];
  switch (expr.op->id) {
  case OpId::Matmul:
    return matmulValue(x, operand(expr, 1));
  case OpId::Gather:
    return gatherValue(x, operand(expr, 1), axis);
  case OpId::Scatter:
    return scatterValue(x, operand(expr, 1), operand(expr, 2), axis, tag(expr, 4));
  case OpId::Topk:
    return topkValue(x, dimValue(expr.shape[0], expr.span));
  default:
    return sortValue(x, axis, flag(expr, 2), expr.op->id == OpId::Argsort);
  }
}

Value Machine::evalCreation(const OpExpr &expr) {
  ElemKind elem = elemOf(expr.type->elem);
  switch (expr.op->id) {
  case OpId::Zeros:
    return fullValue(elem, shapeOf(*expr.type, expr.span), {});
  case OpId::Ones:
    return fullValue(elem, shapeOf(*expr.type, expr.span), {1, 1});
  case OpId::Full:
    return fullValue(elem, shapeOf(*expr.type, expr.span), operand(expr, 1).asScalar().scalar);
  case OpId::Index: {
    const Expr &arg = *expr.args[0];
    if (arg.type->kind == TypeKind::Range)
      return indexValue(evalRange(arg));
    RangeValue range;
    range.length = std::max<int64_t>(evalInt(arg), 0);
    return indexValue(range);
  }
  case OpId::OneHot:
    return oneHotValue(operand(expr, 0), dimValue(expr.shape[0], expr.span), elem);
  case OpId::Philox:
    return philoxValue(operand(expr, 0), operand(expr, 1).asScalar().scalar.i);
  default: {
    Value seed = operand(expr, 1), low = operand(expr, 2), high = operand(expr, 3);
    Scalar one = {1, 1};
    return randomValue(elem, shapeOf(*expr.type, expr.span),
                       seed.isScalar() ? seed.asScalar().scalar.i : 0,
                       low.isScalar() ? low.asScalar().scalar : Scalar(),
                       high.isScalar() ? high.asScalar().scalar : one);
  }
  }
}

Value Machine::evalConversion(const OpExpr &expr) {
  Value x = operand(expr, 0);
  ElemKind to = elemOf(expr.type->elem);
  switch (expr.op->id) {
  case OpId::Bitcast:
    return bitcastValue(x, to);
  case OpId::Quantize:
    return quantizeValue(x, operand(expr, 1), operand(expr, 2), to);
  case OpId::Dequantize:
    return dequantizeValue(x, operand(expr, 1), operand(expr, 2));
  default: {
    auto round = roundModeByName(tag(expr, 1));
    return convertValue(x, to, round.value_or(RoundMode::Even), flag(expr, 2));
  }
  }
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

Value Machine::evalOpByGroup(const OpExpr &expr) {
  switch (expr.op->opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select: {
    std::vector<Value> operands = operandsOf(expr);
    return elementwise(expr.op->id, operands);
  }
  case OpClass::Reduction:
  case OpClass::Scan:
    return evalReduction(expr);
  case OpClass::Shape:
    return evalShapeOp(expr);
  case OpClass::Product:
  case OpClass::Gather:
  case OpClass::Scatter:
  case OpClass::Sort:
    return evalData(expr);
  case OpClass::Creation:
  case OpClass::Random:
    return evalCreation(expr);
  case OpClass::Conversion:
    return evalConversion(expr);
  case OpClass::Effect:
    return evalEffect(expr);
  case OpClass::Load:
    break;
  }
  stop(RunStatus::Fault, "`" + std::string(expr.op->name) + "` is no value", expr.span);
}

Value Machine::evalOp(const OpExpr &expr) {
  if (expr.type->kind == TypeKind::Range)
    return Value::range(rangeOfInfo(*expr.type->range, expr.span));
  try {
    return evalOpByGroup(expr);
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
  if (isScalarOp(op))
    return true;
  switch (record.opClass) {
  case OpClass::Reduction:
    return op == OpId::Unique || op == OpId::Sorted || op == OpId::ReduceArgmax ||
           op == OpId::ReduceArgmin || foldStart(op, ElemKind::F32).has_value();
  case OpClass::Scan:
    return foldStart(op, ElemKind::F32).has_value();
  case OpClass::Load:
    return elsewhere("");
  default:
    return true;
  }
}

} // namespace ptl::reference
