// Elementwise records: broadcasting, with the dispatch outside of the loops where it counts.

#include "codegen/reference/ops_elementwise.h"

#include "codegen/reference/scalar_float.h"
#include "codegen/reference/scalar_internal.h"

#include <algorithm>
#include <cmath>

namespace ptl::reference {
namespace {

Walk walkOf(std::span<const View> views, const std::vector<int64_t> &shape) {
  Walk walk;
  walk.shape = shape;
  for (size_t k = 0; k < views.size(); ++k)
    walk.strides[k] = broadcastStrides(views[k].shape, shape);
  return walk;
}

template <typename Fn> void floatRows(std::span<const View> views, RefArray &result, Fn fn) {
  const double *a = views[0].floats, *b = views[1].floats;
  forRows(walkOf(views, result.shape), 2,
          [&](const Offsets &at, const Offsets &step, int64_t length, int64_t position) {
            double *out = result.floats.data() + position;
            const double *x = a + at[0], *y = b + at[1];
            for (int64_t i = 0; i < length; ++i)
              out[i] = fn(x[i * step[0]], y[i * step[1]]);
          });
}

/// The operators that programs spend their time in; false for all others.
bool fastFloat(OpId op, std::span<const View> views, RefArray &result) {
  if (views.size() != 2 || !views[0].floats || !result.isReal())
    return false;
  switch (op) {
  case OpId::Add:
    floatRows(views, result, [](double x, double y) { return x + y; });
    return true;
  case OpId::Sub:
    floatRows(views, result, [](double x, double y) { return x - y; });
    return true;
  case OpId::Mul:
    floatRows(views, result, [](double x, double y) { return x * y; });
    return true;
  case OpId::Div:
    floatRows(views, result, [](double x, double y) { return x / y; });
    return true;
  default:
    return false;
  }
}

std::string divisionText(OpId op) {
  return std::string("division by zero in `") + std::string(opRecord(op).name) + "`";
}

void generalRows(OpId op, ElemKind elem, std::span<const View> views, RefArray &result) {
  size_t operands = views.size();
  forRows(walkOf(views, result.shape), operands,
          [&](const Offsets &at, const Offsets &step, int64_t length, int64_t position) {
            Scalar args[kMaxOperands];
            Scalar out;
            for (int64_t i = 0; i < length; ++i) {
              for (size_t k = 0; k < operands; ++k)
                args[k] = views[k].at(at[k] + i * step[k]);
              EvalStatus status = evalScalar(op, elem, std::span(args, operands), out);
              if (status == EvalStatus::DivisionByZero)
                stop(RunStatus::Arithmetic, divisionText(op));
              if (status != EvalStatus::Ok)
                stop(RunStatus::Fault, "`" + std::string(opRecord(op).name) +
                                           "` does not apply to `" + std::string(elemName(elem)) +
                                           "`");
              result.set(position + i, out);
            }
          });
}

void unaryRows(OpId op, const View &x, RefArray &result) {
  for (size_t i = 0; i < result.floats.size(); ++i)
    result.floats[i] = *floatUnary(op, x.floats[i]);
}

/// Calls `fn(position, offsets)` for every element of up to three operands.
template <typename Fn>
void forElements(std::span<const View> views, const std::vector<int64_t> &shape, Fn fn) {
  size_t operands = views.size();
  forRows(walkOf(views, shape), operands,
          [&](const Offsets &at, const Offsets &step, int64_t length, int64_t position) {
            for (int64_t i = 0; i < length; ++i) {
              Offsets here;
              for (size_t k = 0; k < operands; ++k)
                here[k] = at[k] + i * step[k];
              fn(position + i, here);
            }
          });
}

} // namespace

Value elementwise(OpId op, std::span<const Value> args) {
  View views[kMaxOperands];
  if (args.empty() || args.size() > kMaxOperands)
    stop(RunStatus::Fault, "wrong number of operands of `" + std::string(opRecord(op).name) + "`");
  for (size_t k = 0; k < args.size(); ++k)
    views[k] = viewOf(args[k]);
  std::span<const View> operands(views, args.size());
  // The first operand of `select` is a condition; the last one of every operation has the type in
  // which it is computed.
  ElemKind elem = operands.back().elem;
  if (std::all_of(args.begin(), args.end(), [](const Value &v) { return v.isScalar(); })) {
    Scalar scalars[kMaxOperands], out;
    for (size_t k = 0; k < args.size(); ++k)
      scalars[k] = args[k].asScalar().scalar;
    if (evalScalar(op, elem, std::span(scalars, args.size()), out) == EvalStatus::DivisionByZero)
      stop(RunStatus::Arithmetic, divisionText(op));
    ElemKind to = scalarResult(op, elem);
    return Value::scalar(to, roundScalar(out, to));
  }
  RefArray result = zeroArray(scalarResult(op, elem), broadcastShapes(operands));
  if (!fastFloat(op, operands, result)) {
    // Calling the function with 1.0 asks whether it is one of floats, once for the whole array.
    bool isUnary = args.size() == 1 && result.isReal() && views[0].floats && result.count() > 0 &&
                   floatUnary(op, 1.0).has_value();
    if (isUnary)
      unaryRows(op, views[0], result);
    else
      generalRows(op, elem, operands, result);
  }
  // Values are held as `double`; each operation rounds to its type once. A choice computes nothing.
  if (result.isReal() && op != OpId::Select)
    roundAll(result.floats.data(), result.count(), result.elem);
  return Value::array(std::move(result));
}

Value convertValue(const Value &value, ElemKind to, RoundMode mode, bool saturate) {
  View view = viewOf(value);
  if (view.elem == to)
    return value;
  if (value.isScalar())
    return Value::scalar(to, convertScalar(value.asScalar().scalar, view.elem, to, mode, saturate));
  RefArray result = zeroArray(to, {view.shape.begin(), view.shape.end()});
  // Only a conversion saturates for infinity, so that is what the 8-bit floats need.
  bool plain = view.floats && result.isReal() && mode == RoundMode::Even && elemBits(to) > 8;
  if (plain) {
    std::copy_n(view.floats, result.count(), result.floats.data());
    roundAll(result.floats.data(), result.count(), to);
  } else {
    for (int64_t i = 0; i < result.count(); ++i)
      result.set(i, convertScalar(view.at(i), view.elem, to, mode, saturate));
  }
  return Value::array(std::move(result));
}

Value bitcastValue(const Value &value, ElemKind to) {
  View view = viewOf(value);
  RefArray result = zeroArray(to, {view.shape.begin(), view.shape.end()});
  for (int64_t i = 0; i < result.count(); ++i)
    result.set(i, bitcastScalar(view.at(i), view.elem, to));
  return Value::array(std::move(result));
}

Value quantizeValue(const Value &x, const Value &scale, const Value &zero, ElemKind to) {
  Value offset = zero.isNone() ? Value::scalar(ElemKind::I32, {}) : zero;
  View views[] = {viewOf(x), viewOf(scale), viewOf(offset)};
  RefArray result = zeroArray(to, broadcastShapes(views));
  forElements(views, result.shape, [&](int64_t position, const Offsets &at) {
    result.set(position, quantizeScalar(views[0].floats[at[0]], views[1].floats[at[1]],
                                        views[2].ints[at[2]], views[0].elem, to));
  });
  return Value::array(std::move(result));
}

Value dequantizeValue(const Value &q, const Value &scale, const Value &zero) {
  Value offset = zero.isNone() ? Value::scalar(ElemKind::I32, {}) : zero;
  View views[] = {viewOf(q), viewOf(scale), viewOf(offset)};
  RefArray result = zeroArray(views[1].elem, broadcastShapes(views));
  forElements(views, result.shape, [&](int64_t position, const Offsets &at) {
    result.set(position, dequantizeScalar(views[0].at(at[0]), views[0].elem, views[1].floats[at[1]],
                                          views[2].ints[at[2]], views[1].elem));
  });
  return Value::array(std::move(result));
}

// ---- Creation ----------------------------------------------------------------------------------

Value fullValue(ElemKind elem, std::vector<int64_t> shape, Scalar value) {
  RefArray result = zeroArray(elem, std::move(shape));
  std::fill(result.floats.begin(), result.floats.end(), value.f);
  std::fill(result.ints.begin(), result.ints.end(), value.i);
  return Value::array(std::move(result));
}

Value indexValue(const RangeValue &range) {
  RefArray result = zeroArray(ElemKind::I32, {range.length});
  for (int64_t i = 0; i < range.length; ++i)
    result.ints[static_cast<size_t>(i)] =
        wrapInteger(static_cast<uint64_t>(range.start + i * range.step), ElemKind::I32);
  return Value::array(std::move(result));
}

Value oneHotValue(const Value &ids, int64_t extent, ElemKind elem) {
  View view = viewOf(ids);
  std::vector<int64_t> shape(view.shape.begin(), view.shape.end());
  shape.push_back(extent);
  RefArray result = zeroArray(elem, std::move(shape));
  Scalar one = {1, 1};
  for (int64_t i = 0; i < view.count(); ++i)
    if (int64_t id = view.ints[i]; id >= 0 && id < extent)
      result.set(i * extent + id, one);
  return Value::array(std::move(result));
}

Value philoxValue(const Value &counter, int64_t seed) {
  View view = viewOf(counter);
  RefArray result = zeroArray(ElemKind::U32, {view.shape.begin(), view.shape.end()});
  for (int64_t i = 0; i < view.count(); ++i)
    result.ints[static_cast<size_t>(i)] =
        philoxBits(static_cast<uint64_t>(view.ints[i]), static_cast<uint64_t>(seed));
  return Value::array(std::move(result));
}

Value randomValue(ElemKind elem, std::vector<int64_t> shape, int64_t seed, Scalar low,
                  Scalar high) {
  RefArray result = zeroArray(elem, std::move(shape));
  for (int64_t p = 0; p < result.count(); ++p) {
    uint32_t bits = philoxBits(static_cast<uint64_t>(p), static_cast<uint64_t>(seed));
    result.set(p, randomScalar(bits, elem, low, high));
  }
  return Value::array(std::move(result));
}

} // namespace ptl::reference
