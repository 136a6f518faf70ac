// The values of the reference executor. They are cheap to copy: arrays, tuples and lists are
// shared, and are copied when they are written while shared (copy on write).
#pragma once

#include "frontend/base/elem_convert.h"

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ptl::reference {

/// A dense row-major array. Floats are held in `floats`, every other type in `ints`, always rounded
/// to `elem`.
struct RefArray {
  ElemKind elem = ElemKind::F32;
  std::vector<int64_t> shape;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  std::vector<uint8_t> defined; ///< 1 per element that was written; empty: all were

  bool isReal() const { return isFloat(elem); }
  int64_t count() const { return static_cast<int64_t>(isReal() ? floats.size() : ints.size()); }
  // Inline, because loops over elements call these for each one.
  Scalar at(int64_t position) const {
    auto p = static_cast<size_t>(position);
    return isReal() ? Scalar::real(floats[p]) : Scalar::integer(ints[p]);
  }
  void set(int64_t position, Scalar value) {
    auto p = static_cast<size_t>(position);
    if (isReal())
      floats[p] = value.f;
    else
      ints[p] = value.i;
  }
};

/// The product of the extents; the largest integer if it overflows.
int64_t elementCount(std::span<const int64_t> shape);
/// An array of zeros; all elements count as initialised.
RefArray zeroArray(ElemKind elem, std::vector<int64_t> shape);
/// An array whose elements count as uninitialised.
RefArray undefinedArray(ElemKind elem, std::vector<int64_t> shape);
/// Copy between an array and dense memory of its element type.
RefArray arrayFromMemory(ElemKind elem, std::vector<int64_t> shape, const void *memory);
void arrayToMemory(const RefArray &array, void *memory);

/// Positions `start`, `start + step` …, `length` of them.
struct RangeValue {
  int64_t start = 0;
  int64_t length = 0;
  int64_t step = 1;
  int64_t size = 0;  ///< of the tiles, for a range made by `tiles`
  int64_t count = 0; ///< number of the tile

  int64_t end() const { return start + length * step; }
  bool operator==(const RangeValue &) const = default;
};

class Value {
public:
  struct Undefined {};
  struct TypedScalar {
    ElemKind elem;
    Scalar scalar;
  };
  using Parts = std::vector<Value>;

  Value() = default;
  static Value scalar(ElemKind elem, Scalar value) { return Value(TypedScalar{elem, value}); }
  static Value integer(int64_t value) { return scalar(ElemKind::Int, Scalar::integer(value)); }
  static Value boolean(bool value) { return scalar(ElemKind::Bool, Scalar::boolean(value)); }
  /// An array without axes becomes a scalar.
  static Value array(RefArray array);
  static Value range(RangeValue range) { return Value(range); }
  /// A tuple, a struct (fields in order) or a list.
  static Value parts(Parts parts) { return Value(std::make_shared<Parts>(std::move(parts))); }
  static Value text(std::string text) {
    return Value(std::make_shared<std::string>(std::move(text)));
  }
  /// A variable that was declared without a value.
  static Value undefined() { return Value(Undefined{}); }

  bool isNone() const { return std::holds_alternative<std::monostate>(data_); }
  bool isUndefined() const { return std::holds_alternative<Undefined>(data_); }
  bool isScalar() const { return std::holds_alternative<TypedScalar>(data_); }
  bool isArray() const { return std::holds_alternative<std::shared_ptr<RefArray>>(data_); }
  bool isRange() const { return std::holds_alternative<RangeValue>(data_); }
  bool isParts() const { return std::holds_alternative<std::shared_ptr<Parts>>(data_); }
  bool isText() const { return std::holds_alternative<std::shared_ptr<std::string>>(data_); }

  const TypedScalar &asScalar() const { return std::get<TypedScalar>(data_); }
  const RefArray &asArray() const { return *std::get<std::shared_ptr<RefArray>>(data_); }
  const RangeValue &asRange() const { return std::get<RangeValue>(data_); }
  const Parts &asParts() const { return *std::get<std::shared_ptr<Parts>>(data_); }
  const std::string &asText() const { return *std::get<std::shared_ptr<std::string>>(data_); }
  /// The array for writing; if its content is shared, it is copied first.
  RefArray &mutableArray();
  Parts &mutableParts();

  /// The element type of a scalar or an array.
  ElemKind elem() const { return isScalar() ? asScalar().elem : asArray().elem; }
  std::span<const int64_t> shape() const;
  /// Whether an element was never written; for tuples and structs, whether any part has one.
  bool hasUndefined() const;

private:
  template <typename T> explicit Value(T data) : data_(std::move(data)) {}
  std::variant<std::monostate, Undefined, TypedScalar, std::shared_ptr<RefArray>, RangeValue,
               std::shared_ptr<Parts>, std::shared_ptr<std::string>>
      data_;
};

/// `f32[3, 4]`
std::string typeText(ElemKind elem, std::span<const int64_t> shape);
std::string shapeText(std::span<const int64_t> shape);
std::string scalarText(ElemKind elem, Scalar value);
/// The value as `print` shows it: nested brackets, long arrays shortened.
std::string valueText(const Value &value);

} // namespace ptl::reference
