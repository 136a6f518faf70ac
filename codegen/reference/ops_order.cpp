// Gathers, scatters and orderings.

#include "codegen/reference/ops_order.h"

#include <algorithm>
#include <numeric>

namespace ptl::reference {
namespace {

/// Along one axis of two arrays that agree in all others.
struct AxisPair {
  int64_t outer, inner, length, other;
};
AxisPair axisPair(const RefArray &x, const RefArray &y, int64_t axis) {
  auto a = static_cast<size_t>(axis);
  std::span<const int64_t> shape = x.shape;
  return {elementCount(shape.first(a)), elementCount(shape.subspan(a + 1)), shape[a], y.shape[a]};
}

int64_t checkedPosition(const RefArray &idx, int64_t at, int64_t extent) {
  int64_t position = idx.ints[static_cast<size_t>(at)];
  // The range of positions is the extent that is indexed, which may differ from that of the index
  // array.
  if (position < 0 || position >= extent)
    stop(RunStatus::Bounds, "an index array holds the position " +
                                scalarText(idx.elem, idx.at(at)) + ", outside of 0.." +
                                std::to_string(extent));
  return position;
}

Scalar combined(std::string_view combine, ElemKind elem, Scalar old, Scalar next) {
  if (combine == "set")
    return next;
  OpId op = combine == "add" ? OpId::Add : combine == "max" ? OpId::Max : OpId::Min;
  // The combination is computed in the element type and rounded each time, as it would be in
  // memory.
  Scalar args[] = {old, next}, result;
  evalScalar(op, elem, args, result);
  return roundScalar(result, elem);
}

} // namespace

Value gatherValue(const Value &x, const Value &idx, int64_t axis) {
  const RefArray &from = x.asArray(), &positions = idx.asArray();
  AxisPair pair = axisPair(from, positions, axis);
  RefArray result = zeroArray(from.elem, positions.shape);
  for (int64_t o = 0; o < pair.outer; ++o)
    for (int64_t k = 0; k < pair.other; ++k)
      for (int64_t i = 0; i < pair.inner; ++i) {
        int64_t at = (o * pair.other + k) * pair.inner + i;
        int64_t position = checkedPosition(positions, at, pair.length);
        result.set(at, from.at((o * pair.length + position) * pair.inner + i));
      }
  return Value::array(std::move(result));
}

Value scatterValue(const Value &x, const Value &idx, const Value &v, int64_t axis,
                   std::string_view combine) {
  const RefArray &positions = idx.asArray(), &values = v.asArray();
  // Elements that no position names keep their value.
  RefArray result = x.asArray();
  AxisPair pair = axisPair(result, positions, axis);
  for (int64_t o = 0; o < pair.outer; ++o)
    for (int64_t k = 0; k < pair.other; ++k)
      for (int64_t i = 0; i < pair.inner; ++i) {
        int64_t at = (o * pair.other + k) * pair.inner + i;
        int64_t position = checkedPosition(positions, at, pair.length);
        int64_t to = (o * pair.length + position) * pair.inner + i;
        // Values go in one after the other, so that equal positions combine.
        result.set(to, combined(combine, result.elem, result.at(to), values.at(at)));
      }
  return Value::array(std::move(result));
}

/// Positions along an axis in order, for each lane: `visit(lane's first element, stride, order)`.
template <typename Visit>
static void forOrders(const RefArray &x, int64_t axis, bool descending, Visit visit) {
  auto a = static_cast<size_t>(axis);
  std::span<const int64_t> shape = x.shape;
  int64_t outer = elementCount(shape.first(a)), inner = elementCount(shape.subspan(a + 1));
  int64_t length = shape[a];
  std::vector<int64_t> order(static_cast<size_t>(length));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      // The lane's elements lie `inner` apart.
      int64_t first = o * length * inner + i;
      std::iota(order.begin(), order.end(), 0);
      // Equal values stay in order, so positions are well defined.
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
        return comesBefore(x.elem, descending, x.at(first + p * inner), x.at(first + q * inner));
      });
      visit(first, inner, order);
    }
}

Value sortValue(const Value &x, int64_t axis, bool descending, bool positions) {
  const RefArray &from = x.asArray();
  RefArray result = zeroArray(positions ? ElemKind::I32 : from.elem, from.shape);
  forOrders(
      from, axis, descending, [&](int64_t first, int64_t stride, std::span<const int64_t> order) {
        for (size_t k = 0; k < order.size(); ++k)
          result.set(first + static_cast<int64_t>(k) * stride,
                     positions ? Scalar::integer(order[k]) : from.at(first + order[k] * stride));
      });
  return Value::array(std::move(result));
}

Value topkValue(const Value &x, int64_t k) {
  const RefArray &from = x.asArray();
  std::vector<int64_t> shape = from.shape;
  // The number of elements may be known only when running.
  if (k < 0 || k > shape.back())
    stop(RunStatus::Bounds,
         "`topk` of " + std::to_string(k) + " among " + std::to_string(shape.back()) + " elements");
  shape.back() = k;
  RefArray values = zeroArray(from.elem, shape), positions = zeroArray(ElemKind::I32, shape);
  int64_t next = 0;
  forOrders(from, static_cast<int64_t>(shape.size()) - 1, true,
            [&](int64_t first, int64_t, std::span<const int64_t> order) {
              for (int64_t n = 0; n < k; ++n, ++next) {
                values.set(next, from.at(first + order[static_cast<size_t>(n)]));
                positions.set(next, Scalar::integer(order[static_cast<size_t>(n)]));
              }
            });
  Value::Parts parts = {Value::array(std::move(values)), Value::array(std::move(positions))};
  return Value::parts(std::move(parts));
}

} // namespace ptl::reference
