#include "codegen/parts/elements.h"

#include "runtime/movement/box_cursor.h"

#include <algorithm>

namespace ptl::parts {

using movement::BoxCursor;

using reference::RefArray;
using reference::Value;

std::vector<int64_t> shapeOfBox(const movement::Box &box) {
  std::vector<int64_t> shape;
  for (const movement::Interval &interval : box)
    shape.push_back(interval.length());
  return shape;
}

std::vector<Scalar> elementsOf(const Value &value) {
  if (value.isScalar())
    return {value.asScalar().scalar};
  std::vector<Scalar> elements;
  const RefArray &array = value.asArray();
  elements.reserve(static_cast<size_t>(array.count()));
  for (int64_t i = 0; i < array.count(); ++i)
    elements.push_back(array.at(i));
  return elements;
}

Value valueOfElements(ElemKind elem, std::vector<int64_t> shape,
                      const std::vector<Scalar> &elements) {
  if (shape.empty())
    return Value::scalar(elem, elements[0]);
  RefArray array = reference::zeroArray(elem, std::move(shape));
  for (size_t i = 0; i < elements.size(); ++i)
    array.set(static_cast<int64_t>(i), elements[i]);
  return Value::array(std::move(array));
}

/// Calls `copy` with the vectors in which two arrays of one element type hold their elements: runs of a box are copied there
/// as they are, without a look at each element.
template <typename Copy> static void copyStored(RefArray &to, const RefArray &from, Copy copy) {
  from.isReal() ? copy(to.floats, from.floats) : copy(to.ints, from.ints);
}

Value sliceOf(const Value &value, const movement::Box &within, const movement::Box &box) {
  // What is whole is shared, as all values are.
  if (value.isScalar() || box == within)
    return value;
  const RefArray &array = value.asArray();
  RefArray slice;
  slice.elem = array.elem;
  slice.shape = shapeOfBox(box);
  copyStored(slice, array, [&](auto &to, const auto &from) {
    BoxCursor runs(from.data(), within, box, 1);
    to.reserve(runs.rest());
    runs.next(runs.rest(),
              [&to](auto *run, size_t count) { to.insert(to.end(), run, run + count); });
  });
  return Value::array(std::move(slice));
}

void putIn(Value &array, const movement::Box &within, const movement::Box &box,
           const Value &piece) {
  if (array.isNone())
    array = Value::array(reference::zeroArray(piece.elem(), shapeOfBox(within)));
  copyStored(array.mutableArray(), piece.asArray(), [&](auto &to, const auto &from) {
    BoxCursor runs(to.data(), within, box, 1);
    auto *next = from.data();
    runs.next(runs.rest(), [&next](auto *run, size_t count) {
      std::copy_n(next, count, run);
      next += count;
    });
  });
}

Value reshaped(const Value &value, std::vector<int64_t> shape) {
  if (value.isScalar() && shape.empty())
    return value;
  if (value.isScalar() || shape.empty())
    return valueOfElements(value.elem(), std::move(shape), elementsOf(value));
  Value same = value;
  if (!std::ranges::equal(value.shape(), shape))
    same.mutableArray().shape = std::move(shape);
  return same;
}

std::vector<uint8_t> bytesOf(const Value &value) {
  auto size = static_cast<size_t>(elemInfo(value.elem()).storageBytes);
  std::vector<uint8_t> bytes(size *
                             (value.isScalar() ? 1 : static_cast<size_t>(value.asArray().count())));
  if (value.isScalar())
    storeElem(bytes.data(), value.elem(), value.asScalar().scalar);
  else
    reference::arrayToMemory(value.asArray(), bytes.data());
  return bytes;
}

Value valueOfBytes(ElemKind elem, std::vector<int64_t> shape, const uint8_t *bytes) {
  if (shape.empty())
    return Value::scalar(elem, loadElem(bytes, elem));
  return Value::array(reference::arrayFromMemory(elem, std::move(shape), bytes));
}

} // namespace ptl::parts
