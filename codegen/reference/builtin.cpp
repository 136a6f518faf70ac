#include "codegen/reference/builtin.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/ops_order.h"
#include "codegen/reference/ops_product.h"
#include "codegen/reference/ops_reduce.h"
#include "codegen/reference/ops_shape.h"

#include <numeric>

namespace ptl::reference {

static const Value &operandOf(const BuiltinCall &call, size_t index) {
  static const Value none;
  return index < call.operands.size() ? call.operands[index] : none;
}

static Scalar scalarOr(const Value &value, Scalar otherwise) {
  return value.isScalar() ? value.asScalar().scalar : otherwise;
}

/// The axis that is named, else the last one.
static int64_t axisOf(const BuiltinCall &call) {
  return call.axes.empty() ? static_cast<int64_t>(operandOf(call, 0).shape().size()) - 1
                           : call.axes[0];
}

static Value applyReduction(const BuiltinCall &call) {
  const Value &x = operandOf(call, 0);
  switch (call.op) {
  case OpId::Unique:
    return isUnique(x);
  case OpId::Sorted:
    return isSorted(x);
  case OpId::Cumsum:
  case OpId::Cumprod:
  case OpId::Cummax:
  case OpId::Cummin:
    return scanValue(call.op, x, axisOf(call));
  case OpId::ReduceArgmax:
  case OpId::ReduceArgmin:
    return argReduce(call.op, x,
                     call.all || call.axes.empty() ? std::nullopt : std::optional(call.axes[0]));
  default:
    return reduceValue(call.op, x, call.axes, call.all);
  }
}

static std::vector<int64_t> transposedAxes(const std::vector<int64_t> &named, size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (named.empty())
    std::swap(axes[rank - 1], axes[rank - 2]);
  for (size_t i = 0; i < named.size(); ++i) // Leading axes of `..` stay where they are.
    axes[rank - named.size() + i] = named[i];
  return axes;
}

static Value applyShapeOp(const BuiltinCall &call) {
  const Value &x = operandOf(call, 0);
  switch (call.op) {
  case OpId::Concat:
    return concatValues(call.operands, axisOf(call));
  case OpId::Reshape:
    return reshapeValue(x, call.shape);
  case OpId::Broadcast:
    return broadcastValue(x, call.shape);
  case OpId::Transpose:
    if (x.shape().empty()) // a scalar has no axes
      return x;
    return transposeValue(x, transposedAxes(call.axes, x.shape().size()));
  case OpId::Pad:
    return padValue(x, operandOf(call, 1).asScalar().scalar, call.before, call.after);
  case OpId::Interleave:
    return interleaveValues(x, operandOf(call, 1));
  case OpId::Deinterleave:
    return deinterleaveValue(x);
  default:
    return triangleValue(x, scalarOr(operandOf(call, 1), {}).i, call.op == OpId::Tril);
  }
}

/// Products, gathers and orderings.
static Value applyData(const BuiltinCall &call) {
  const Value &x = operandOf(call, 0);
  switch (call.op) {
  case OpId::Einsum:
    return einsumValue(call.text, call.operands);
  case OpId::Matmul:
    // Scales that nobody reads would make another product.
    if (call.operands.size() > 2)
      stop(RunStatus::Fault, "a product of two factors has further operands");
    return matmulValue(x, operandOf(call, 1));
  case OpId::ScaledDot:
    return scaledDotValue(x, operandOf(call, 1), operandOf(call, 2), operandOf(call, 3));
  case OpId::Gather:
    return gatherValue(x, operandOf(call, 1), axisOf(call));
  case OpId::Scatter:
    return scatterValue(x, operandOf(call, 1), operandOf(call, 2), axisOf(call), call.text);
  case OpId::Topk:
    return topkValue(x, call.shape[0]);
  default:
    return sortValue(x, axisOf(call), call.descending, call.op == OpId::Argsort);
  }
}

static Value applyCreation(const BuiltinCall &call) {
  switch (call.op) {
  case OpId::Zeros:
    return fullValue(call.elem, call.shape, {});
  case OpId::Ones:
    return fullValue(call.elem, call.shape, {1, 1});
  case OpId::Full:
    return fullValue(call.elem, call.shape, operandOf(call, 0).asScalar().scalar);
  case OpId::Index:
    return indexValue(call.range);
  case OpId::OneHot:
    return oneHotValue(operandOf(call, 0), call.shape[0], call.elem);
  case OpId::Philox:
    return philoxValue(operandOf(call, 0), operandOf(call, 1).asScalar().scalar.i);
  default:
    return randomValue(call.elem, call.shape, scalarOr(operandOf(call, 0), {}).i,
                       scalarOr(operandOf(call, 1), {}), scalarOr(operandOf(call, 2), {1, 1}));
  }
}

static Value applyConversion(const BuiltinCall &call) {
  const Value &x = operandOf(call, 0);
  switch (call.op) {
  case OpId::Bitcast:
    return bitcastValue(x, call.elem);
  case OpId::Quantize:
    return quantizeValue(x, operandOf(call, 1), operandOf(call, 2), call.elem);
  case OpId::Dequantize:
    return dequantizeValue(x, operandOf(call, 1), operandOf(call, 2));
  default:
    return convertValue(x, call.elem, call.round, call.saturate);
  }
}

Value applyBuiltin(const BuiltinCall &call) {
  const OpRecord &record = opRecord(call.op);
  switch (record.opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
    return elementwise(call.op, call.operands);
  case OpClass::Reduction:
  case OpClass::Scan:
    return applyReduction(call);
  case OpClass::Shape:
    return applyShapeOp(call);
  case OpClass::Product:
  case OpClass::Gather:
  case OpClass::Scatter:
  case OpClass::Sort:
    return applyData(call);
  case OpClass::Creation:
  case OpClass::Random:
    return applyCreation(call);
  case OpClass::Conversion:
    return applyConversion(call);
  case OpClass::Effect:
  case OpClass::Load:
    break;
  }
  stop(RunStatus::Fault, "`" + std::string(record.name) + "` is not a value");
}

std::optional<Value> evalBuiltin(const BuiltinCall &call, RunStatus &status, std::string &why) {
  try {
    return applyBuiltin(call);
  } catch (const Stop &stopped) {
    status = stopped.status;
    why = stopped.message;
    return std::nullopt;
  }
}

} // namespace ptl::reference
