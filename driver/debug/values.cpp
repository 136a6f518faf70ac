#include "driver/debug/values.h"

#include "codegen/reference/array_ops.h"

#include <algorithm>

namespace ptl::debug {

using namespace reference;

namespace {

/// Where a part of an array begins, and its shape.
struct Part {
  const RefArray &array;
  int64_t begin = 0;
  std::vector<int64_t> shape;

  explicit Part(const Shown &shown) : array(shown.value.asArray()) {
    std::vector<int64_t> strides = denseStrides(array.shape);
    for (size_t i = 0; i < shown.index.size(); ++i)
      begin += shown.index[i] * strides[i];
    shape.assign(array.shape.begin() + static_cast<std::ptrdiff_t>(shown.index.size()),
                 array.shape.end());
  }
};

/// Elements in nested brackets as far as `left` goes, with the last one behind what is left out.
class ArrayText {
public:
  ArrayText(const RefArray &array, const std::vector<int64_t> &shape)
      : array_(array), shape_(shape), strides_(denseStrides(shape)) {}

  std::string text(int64_t at, size_t axis = 0) {
    if (axis == shape_.size())
      return element(at);
    std::string text = "[";
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      bool isLeftOut = left_ == 0;
      if (isLeftOut) {
        i = shape_[axis] - 1;
        left_ = 1;
      }
      text += (i == 0      ? ""
               : isLeftOut ? ", … "
                           : ", ") +
              this->text(at + i * strides_[axis], axis + 1);
    }
    return text + "]";
  }

private:
  std::string element(int64_t at) {
    left_ -= left_ > 0;
    bool isWritten = array_.defined.empty() || array_.defined[static_cast<size_t>(at)];
    return isWritten ? scalarText(array_.elem, array_.at(at)) : "?";
  }

  const RefArray &array_;
  const std::vector<int64_t> &shape_;
  std::vector<int64_t> strides_;
  size_t left_ = 8;
};

std::string rangeText(const RangeValue &range) {
  std::string text = std::to_string(range.start) + ".." + std::to_string(range.end());
  if (range.step != 1)
    text += " step " + std::to_string(range.step);
  // Ranges that are no tile have no size.
  return range.size > 0 ? text + " (tile " + std::to_string(range.count) + ")" : text;
}

const Type *partType(const Type *type, size_t part) {
  if (!type)
    return nullptr;
  if (type->kind == TypeKind::Struct && type->structDecl)
    return type->structDecl->fields[part].type;
  if (type->elements.empty())
    return nullptr;
  return type->elements[std::min(part, type->elements.size() - 1)];
}

std::string fieldName(const Type *type, size_t part) {
  bool isStruct = type && type->kind == TypeKind::Struct && type->structDecl;
  return isStruct ? type->structDecl->fields[part].name : std::to_string(part);
}

Shown integer(const std::string &name, int64_t value, std::string path = {}) {
  return {name, Value::integer(value), nullptr, {}, std::move(path)};
}

std::vector<Shown> fieldsOf(const Shown &shown) {
  std::vector<Shown> fields;
  if (shown.value.isRange()) {
    const RangeValue &range = shown.value.asRange();
    for (auto [name, value] : {std::pair("start", range.start), std::pair("end", range.end()),
                               std::pair("len", range.length)})
      fields.push_back(integer(name, value, shown.path + "." + name));
    if (range.size > 0)
      for (auto [name, value] : {std::pair("size", range.size), std::pair("count", range.count)})
        fields.push_back(integer(name, value, shown.path + "." + name));
  }
  if (shown.value.isParts())
    for (size_t i = 0; i < shown.value.asParts().size(); ++i) {
      std::string name = fieldName(shown.type, i);
      fields.push_back(
          {name, shown.value.asParts()[i], partType(shown.type, i), {}, shown.path + "." + name});
    }
  return fields;
}

std::string elementPath(const Shown &shown, const std::vector<int64_t> &index) {
  // `x[3]` and a further position are `x[3, 1]`.
  std::string base =
      shown.path.substr(0, shown.index.empty() ? shown.path.npos : shown.path.rfind('['));
  std::string list;
  for (int64_t position : index)
    list += (list.empty() ? "" : ", ") + std::to_string(position);
  return base + "[" + list + "]";
}

} // namespace

std::string textOf(const Shown &shown) {
  const Value &value = shown.value;
  if (value.isArray()) {
    Part part(shown);
    return ArrayText(part.array, part.shape).text(part.begin);
  }
  if (value.isScalar())
    return scalarText(value.elem(), value.asScalar().scalar);
  if (value.isRange())
    return rangeText(value.asRange());
  if (value.isText())
    return value.asText();
  if (value.isUndefined())
    return "not written yet";
  if (!value.isParts())
    return "nothing";
  std::string text;
  for (const Shown &field : fieldsOf(shown))
    text += (text.empty() ? "" : ", ") + textOf(field);
  return "(" + text + ")";
}

std::string typeOf(const Shown &shown) {
  const Value &value = shown.value;
  if (value.isArray()) {
    Part part(shown);
    return typeText(part.array.elem, part.shape);
  }
  if (value.isScalar())
    return std::string(elemName(value.elem()));
  if (value.isRange())
    return value.asRange().size > 0 ? "tile" : "range";
  if (value.isParts() && shown.type && shown.type->structDecl)
    return shown.type->structDecl->name;
  return value.isParts() ? "tuple" : "";
}

size_t indexedCount(const Shown &shown) {
  if (!shown.value.isArray())
    return 0;
  Part part(shown);
  return part.shape.empty() ? 0 : static_cast<size_t>(part.shape[0]);
}

size_t namedCount(const Shown &shown) { return fieldsOf(shown).size(); }

std::vector<Shown> partsOf(const Shown &shown, size_t start, size_t count) {
  std::vector<Shown> parts;
  if (!shown.value.isArray()) {
    std::vector<Shown> fields = fieldsOf(shown);
    for (size_t i = start; i < fields.size() && parts.size() < count; ++i)
      parts.push_back(std::move(fields[i]));
    return parts;
  }
  size_t length = indexedCount(shown);
  for (size_t i = start; i < length && parts.size() < count; ++i) {
    std::vector<int64_t> index = shown.index;
    index.push_back(static_cast<int64_t>(i));
    std::string path = elementPath(shown, index);
    std::string name = "[" + std::to_string(i) + "]";
    parts.push_back({name, shown.value, nullptr, index, path});
  }
  return parts;
}

} // namespace ptl::debug
