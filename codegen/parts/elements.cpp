#include "codegen/parts/elements.h"

#include "runtime/movement/execute.h"

namespace ptl::parts {

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

Value sliceOf(const Value &value, const movement::Box &within, const movement::Box &box) {
  if (value.isScalar())
    return value;
  const RefArray &array = value.asArray();
  std::vector<Scalar> elements;
  movement::forEachRow(within, box, [&](int64_t offset, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      elements.push_back(array.at(offset + i));
  });
  return valueOfElements(array.elem, shapeOfBox(box), elements);
}

void putIn(Value &array, const movement::Box &within, const movement::Box &box,
           const Value &piece) {
  if (array.isNone())
    array = Value::array(reference::zeroArray(piece.elem(), shapeOfBox(within)));
  RefArray &to = array.mutableArray();
  const RefArray &from = piece.asArray();
  int64_t next = 0;
  movement::forEachRow(within, box, [&](int64_t offset, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      to.set(offset + i, from.at(next++));
  });
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
