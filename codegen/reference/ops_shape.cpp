// Built-ins that move, repeat or drop elements.
#include "codegen/reference/ops_shape.h"

#include "codegen/reference/ops_elementwise.h"

#include <numeric>

namespace ptl::reference {

Value reshapeValue(const Value &x, std::vector<int64_t> shape) {
  RefArray storage;
  RefArray result = asArray(x, storage);
  if (elementCount(shape) != result.count())
    stop(RunStatus::Fault, "cannot reshape " + shapeText(result.shape) + " to " + shapeText(shape));
  result.shape = std::move(shape);
  return Value::array(std::move(result));
}

Value transposeValue(const Value &x, std::span<const int64_t> axes) {
  const RefArray &from = x.asArray();
  std::vector<int64_t> dense = denseStrides(from.shape), shape, strides;
  for (int64_t axis : axes) {
    shape.push_back(from.shape[static_cast<size_t>(axis)]);
    strides.push_back(dense[static_cast<size_t>(axis)]);
  }
  RefArray result = zeroArray(from.elem, shape);
  copyStrided(result, 0, denseStrides(shape), from, 0, strides, shape);
  return Value::array(std::move(result));
}

Value concatValues(std::span<const Value> values, int64_t axis) {
  auto a = static_cast<size_t>(axis);
  std::vector<int64_t> shape = values[0].asArray().shape;
  shape[a] = 0;
  for (const Value &value : values)
    shape[a] += value.asArray().shape[a];
  RefArray result = zeroArray(values[0].elem(), shape);
  std::vector<int64_t> strides = denseStrides(shape);
  int64_t offset = 0;
  for (const Value &value : values) {
    const RefArray &part = value.asArray();
    copyStrided(result, offset, strides, part, 0, denseStrides(part.shape), part.shape);
    offset += part.shape[a] * strides[a];
  }
  return Value::array(std::move(result));
}

Value padValue(const Value &x, Scalar fill, std::span<const int64_t> before,
               std::span<const int64_t> after) {
  RefArray storage;
  const RefArray &from = asArray(x, storage);
  std::vector<int64_t> shape = from.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (before[i] < 0 || after[i] < 0)
      stop(RunStatus::Bounds, "`pad` by a negative number of elements");
    shape[i] += before[i] + after[i];
  }
  Value padded = fullValue(from.elem, shape, fill);
  if (shape.empty())
    return x;
  std::vector<int64_t> strides = denseStrides(shape);
  int64_t offset = std::inner_product(strides.begin(), strides.end(), before.begin(), int64_t{0});
  copyStrided(padded.mutableArray(), offset, strides, from, 0, denseStrides(from.shape),
              from.shape);
  return padded;
}

Value broadcastValue(const Value &x, std::vector<int64_t> shape) {
  RefArray storage;
  const RefArray &from = asArray(x, storage);
  RefArray result = zeroArray(from.elem, shape);
  copyStrided(result, 0, denseStrides(shape), from, 0, broadcastStrides(from.shape, shape), shape);
  return Value::array(std::move(result));
}

Value interleaveValues(const Value &a, const Value &b) {
  const RefArray &even = a.asArray();
  std::vector<int64_t> shape = even.shape;
  shape.back() *= 2;
  RefArray result = zeroArray(even.elem, shape);
  std::vector<int64_t> strides = denseStrides(shape);
  strides.back() = 2;
  std::vector<int64_t> dense = denseStrides(even.shape);
  copyStrided(result, 0, strides, even, 0, dense, even.shape);
  copyStrided(result, 1, strides, b.asArray(), 0, dense, even.shape);
  return Value::array(std::move(result));
}

Value deinterleaveValue(const Value &x) {
  const RefArray &from = x.asArray();
  std::vector<int64_t> shape = from.shape, strides = denseStrides(from.shape);
  shape.back() /= 2;
  strides.back() = 2;
  Value::Parts parts;
  for (int64_t first : {0, 1}) {
    RefArray half = zeroArray(from.elem, shape);
    copyStrided(half, 0, denseStrides(shape), from, first, strides, shape);
    parts.push_back(Value::array(std::move(half)));
  }
  return Value::parts(std::move(parts));
}

Value triangleValue(const Value &x, int64_t diagonal, bool lower) {
  RefArray result = x.asArray();
  int64_t columns = result.shape.back(), rows = result.shape[result.shape.size() - 2];
  for (int64_t position = 0; position < result.count(); ++position) {
    int64_t n = position % columns, m = position / columns % rows;
    if (lower ? n > m + diagonal : n < m + diagonal)
      result.set(position, {});
  }
  return Value::array(std::move(result));
}

} // namespace ptl::reference
