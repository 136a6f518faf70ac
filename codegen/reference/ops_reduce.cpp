// Reductions, scans and the predicates of data facts.

#include "codegen/reference/ops_reduce.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace ptl::reference {
namespace {

/// Sums and products run in the accumulator type, and floats in `f64` within it; extremes in the
/// type itself.
ElemKind foldType(OpId op, ElemKind elem) {
  switch (op) {
  case OpId::ReduceSum:
  case OpId::ReduceProd:
  case OpId::ReduceMean:
  case OpId::Cumsum:
  case OpId::Cumprod:
    return isFloat(elem) ? ElemKind::F64 : accOf(elem);
  default:
    return elem;
  }
}

Scalar finishedBool(Scalar value, ElemKind elem) {
  return elem == ElemKind::Bool ? value : roundScalar(value, elem);
}

/// An axis with what lies before and behind it: element `(o, k, i)` is at `(o * length + k) * inner
/// + i`.
struct Lanes {
  int64_t outer = 1, length = 1, inner = 1;
};
Lanes lanesOf(std::span<const int64_t> shape, int64_t axis) {
  auto a = static_cast<size_t>(axis);
  return {elementCount(shape.first(a)), shape[a], elementCount(shape.subspan(a + 1))};
}

/// Whether the value at a later position replaces the best so far.
bool isBetter(ElemKind elem, bool largest, Scalar next, Scalar best) {
  // The first NaN wins over all numbers and is not replaced.
  if (isFloat(elem) && (std::isnan(next.f) || std::isnan(best.f)))
    return std::isnan(next.f) && !std::isnan(best.f);
  return comesBefore(elem, largest, next, best);
}

} // namespace

Value reduceValue(OpId op, const Value &x, std::span<const int64_t> axes, bool all) {
  View view = viewOf(x);
  std::vector<int64_t> kept(view.shape.begin(), view.shape.end());
  std::vector<bool> isReduced(kept.size(), all);
  for (int64_t axis : axes)
    isReduced[static_cast<size_t>(axis)] = true;
  // This is the number of elements in each mean.
  int64_t perResult = 1;
  for (size_t i = 0; i < kept.size(); ++i)
    if (isReduced[i]) {
      perResult *= kept[i];
      // Reduced axes are kept with length 1, so that results broadcast against the operand.
      kept[i] = 1;
    }
  ElemKind acc = foldType(op, view.elem);
  RefArray totals = zeroArray(acc, kept);
  // The start is the identity element of the operation, so no element is special.
  Scalar start = foldStart(op, acc).value_or(Scalar());
  for (int64_t i = 0; i < totals.count(); ++i)
    totals.set(i, start);
  Walk walk;
  walk.shape.assign(view.shape.begin(), view.shape.end());
  walk.strides[0] = denseStrides(view.shape);
  // Along reduced axes the result has stride 0: all elements there go to the same total.
  walk.strides[1] = broadcastStrides(kept, view.shape);
  // Sums are by far the most frequent reductions, and the general step is slow.
  bool sumsFloats = view.floats && (op == OpId::ReduceSum || op == OpId::ReduceMean);
  forRows(std::move(walk), 2, [&](const Offsets &at, const Offsets &step, int64_t length, int64_t) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t from = at[0] + i * step[0], to = at[1] + i * step[1];
      if (sumsFloats)
        totals.floats[static_cast<size_t>(to)] += view.floats[from];
      else
        totals.set(to, foldStep(op, acc, totals.at(to), view.at(from)));
    }
  });
  RefArray result = zeroArray(view.elem, all ? std::vector<int64_t>() : kept);
  for (int64_t i = 0; i < result.count(); ++i) {
    Scalar total = totals.at(i);
    if (op == OpId::ReduceMean)
      total.f /= static_cast<double>(perResult);
    // Totals are rounded once, when all elements are in.
    result.set(i, finishedBool(total, view.elem));
  }
  return Value::array(std::move(result));
}

Value argReduce(OpId op, const Value &x, std::optional<int64_t> axis) {
  View view = viewOf(x);
  // Without an axis the array is one lane in memory order.
  Lanes lanes{1, view.count(), 1};
  std::vector<int64_t> shape;
  if (axis) {
    lanes = lanesOf(view.shape, *axis);
    shape.assign(view.shape.begin(), view.shape.end());
    shape[static_cast<size_t>(*axis)] = 1;
  }
  bool largest = op == OpId::ReduceArgmax;
  RefArray result = zeroArray(ElemKind::I32, shape);
  for (int64_t o = 0; o < lanes.outer; ++o)
    for (int64_t i = 0; i < lanes.inner; ++i) {
      // A lane without elements has no position.
      int64_t best = lanes.length == 0 ? -1 : 0;
      // Only a better value replaces the best, so the first of equal ones counts.
      for (int64_t k = 1; k < lanes.length; ++k)
        if (isBetter(view.elem, largest, view.at((o * lanes.length + k) * lanes.inner + i),
                     view.at((o * lanes.length + best) * lanes.inner + i)))
          best = k;
      result.set(o * lanes.inner + i, Scalar::integer(best));
    }
  return Value::array(std::move(result));
}

Value scanValue(OpId op, const Value &x, int64_t axis) {
  View view = viewOf(x);
  Lanes lanes = lanesOf(view.shape, axis);
  ElemKind acc = foldType(op, view.elem);
  RefArray result = zeroArray(view.elem, {view.shape.begin(), view.shape.end()});
  for (int64_t o = 0; o < lanes.outer; ++o)
    for (int64_t i = 0; i < lanes.inner; ++i) {
      // The total runs in the wider type; each element of the result is rounded on its own.
      Scalar total = foldStart(op, acc).value_or(Scalar());
      for (int64_t k = 0; k < lanes.length; ++k) {
        int64_t position = (o * lanes.length + k) * lanes.inner + i;
        total = foldStep(op, acc, total, view.at(position));
        result.set(position, roundScalar(total, view.elem));
      }
    }
  return Value::array(std::move(result));
}

Value isUnique(const Value &x) {
  View view = viewOf(x);
  // Positions are integers, so equal values are equal numbers.
  std::unordered_set<int64_t> seen;
  for (int64_t i = 0; i < view.count(); ++i)
    if (!seen.insert(view.ints[i]).second)
      return Value::boolean(false);
  return Value::boolean(true);
}

Value isSorted(const Value &x) {
  View view = viewOf(x);
  for (int64_t i = 1; i < view.count(); ++i)
    if (comesBefore(view.elem, false, view.at(i), view.at(i - 1)))
      return Value::boolean(false);
  return Value::boolean(true);
}

} // namespace ptl::reference
