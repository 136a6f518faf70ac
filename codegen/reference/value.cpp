#include "codegen/reference/value.h"

#include "codegen/reference/array_ops.h"
#include "common/array_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ptl::reference {

int64_t elementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      count = INT64_MAX; // Whoever allocates so much finds out; an extent of 0 may still follow.
  return count;
}

RefArray zeroArray(ElemKind elem, std::vector<int64_t> shape) {
  RefArray array;
  array.elem = elem;
  auto count = static_cast<size_t>(elementCount(shape));
  array.shape = std::move(shape);
  if (array.isReal())
    array.floats.resize(count);
  else
    array.ints.resize(count);
  return array;
}

RefArray undefinedArray(ElemKind elem, std::vector<int64_t> shape) {
  RefArray array = zeroArray(elem, std::move(shape));
  array.defined.assign(static_cast<size_t>(array.count()), 0);
  return array;
}

/// Elements that the processor has are converted all at once; `use(example)` gets an example of their type. False if `elem`
/// is not one of them.
template <typename Use> static bool asMachineType(ElemKind elem, Use use) {
  switch (elem) {
  case ElemKind::F32:
    return use(float()), true;
  case ElemKind::F64:
    return use(double()), true;
  case ElemKind::I8:
    return use(int8_t()), true;
  case ElemKind::U8:
    return use(uint8_t()), true;
  case ElemKind::I32:
    return use(int32_t()), true;
  case ElemKind::U32:
    return use(uint32_t()), true;
  case ElemKind::I64:
    return use(int64_t()), true;
  default:
    return false;
  }
}

RefArray arrayFromMemory(ElemKind elem, std::vector<int64_t> shape, const void *memory) {
  RefArray array;
  array.elem = elem;
  auto count = static_cast<size_t>(elementCount(shape));
  array.shape = std::move(shape);
  const auto *bytes = static_cast<const char *>(memory);
  // Large arrays are not written twice: not with zeros first.
  auto load = [bytes, count](auto &to, auto example) {
    if (reinterpret_cast<uintptr_t>(bytes) % alignof(decltype(example)) == 0) {
      const auto *first = reinterpret_cast<const decltype(example) *>(bytes);
      to.assign(first, first + count);
      return;
    }
    to.resize(count);
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&example, bytes + i * sizeof example, sizeof example);
      to[i] = static_cast<std::decay_t<decltype(to[0])>>(example);
    }
  };
  auto loadAll = [&](auto example) {
    if constexpr (std::is_floating_point_v<decltype(example)>)
      load(array.floats, example);
    else
      load(array.ints, example);
  };
  if (asMachineType(elem, loadAll))
    return array;
  array = zeroArray(elem, std::move(array.shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, loadElem(bytes + i * elemBytes(elem), elem));
  return array;
}

void arrayToMemory(const RefArray &array, void *memory) {
  auto *bytes = static_cast<char *>(memory);
  auto store = [bytes](const auto &from, auto example) {
    using Machine = decltype(example);
    // Local, so that the compiler sees that no store changes them, and takes several elements at once.
    const auto *source = from.data();
    char *target = bytes;
    for (size_t i = 0, count = from.size(); i < count; ++i) {
      auto value = static_cast<Machine>(source[i]);
      // There is one NaN of each sign, as in `encodeFloat`.
      if constexpr (sizeof(Machine) < sizeof(double) && std::is_floating_point_v<Machine>)
        value = source[i] != source[i]
                    ? std::copysign(std::numeric_limits<Machine>::quiet_NaN(), value)
                    : value;
      std::memcpy(target + i * sizeof value, &value, sizeof value);
    }
  };
  auto storeAll = [&](auto example) {
    if constexpr (std::is_floating_point_v<decltype(example)>)
      store(array.floats, example);
    else
      store(array.ints, example);
  };
  if (!asMachineType(array.elem, storeAll))
    for (int64_t i = 0; i < array.count(); ++i)
      storeElem(bytes + i * elemBytes(array.elem), array.elem, array.at(i));
}

Value Value::array(RefArray array) {
  if (!array.shape.empty())
    return Value(std::make_shared<RefArray>(std::move(array)));
  bool isWritten = array.defined.empty() || array.defined[0];
  return isWritten ? scalar(array.elem, array.at(0)) : undefined();
}

RefArray &Value::mutableArray() {
  auto &shared = std::get<std::shared_ptr<RefArray>>(data_);
  if (shared.use_count() > 1)
    shared = std::make_shared<RefArray>(*shared);
  return *shared;
}

Value::Parts &Value::mutableParts() {
  auto &shared = std::get<std::shared_ptr<Parts>>(data_);
  if (shared.use_count() > 1)
    shared = std::make_shared<Parts>(*shared);
  return *shared;
}

std::span<const int64_t> Value::shape() const {
  return isArray() ? std::span<const int64_t>(asArray().shape) : std::span<const int64_t>();
}

bool Value::hasUndefined() const {
  if (isUndefined())
    return true;
  if (isArray()) {
    const std::vector<uint8_t> &defined = asArray().defined;
    return std::find(defined.begin(), defined.end(), 0) != defined.end();
  }
  if (isParts())
    return std::any_of(asParts().begin(), asParts().end(),
                       [](const Value &part) { return part.hasUndefined(); });
  return false;
}

// ---- Text --------------------------------------------------------------------------------------

template <typename T> static std::string numberText(T number) {
  char buffer[40];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return error == std::errc() ? std::string(buffer, end) : "?";
}

std::string scalarText(ElemKind elem, Scalar value) {
  if (elem == ElemKind::Bool)
    return value.i ? "true" : "false";
  if (elem == ElemKind::U64)
    return numberText(static_cast<uint64_t>(value.i));
  if (!isFloat(elem))
    return numberText(value.i);
  if (std::isnan(value.f))
    return "nan";
  return elem == ElemKind::F64 ? numberText(value.f) : numberText(static_cast<float>(value.f));
}

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string typeText(ElemKind elem, std::span<const int64_t> shape) {
  std::string text(elemName(elem));
  return shape.empty() ? text : text + shapeText(shape);
}

static std::string arrayText(const RefArray &array) {
  if (array.count() == 0)
    return typeText(array.elem, array.shape);
  std::vector<int64_t> strides = denseStrides(array.shape);
  return ArrayText(array.shape, strides,
                   [&](int64_t at) { return scalarText(array.elem, array.at(at)); })
      .text();
}

std::string valueText(const Value &value) {
  if (value.isScalar())
    return scalarText(value.asScalar().elem, value.asScalar().scalar);
  if (value.isArray())
    return arrayText(value.asArray());
  if (value.isText())
    return value.asText();
  if (value.isRange()) {
    const RangeValue &range = value.asRange();
    std::string text = std::to_string(range.start) + ".." + std::to_string(range.end());
    return range.step == 1 ? text : text + " step " + std::to_string(range.step);
  }
  if (!value.isParts())
    return "?";
  std::string text = "(";
  for (const Value &part : value.asParts())
    text += (text.size() > 1 ? ", " : "") + valueText(part);
  return text + ")";
}

} // namespace ptl::reference
