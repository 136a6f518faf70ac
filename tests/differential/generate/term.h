// What random programs are made of: types by the names of their lengths, and expressions with what
// is known of their elements.
#pragma once

#include "frontend/base/elem_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptl::differential {

/// An axis as the program spells it.
struct Axis {
  std::string name;   ///< in types: `i`, `C`, `16`
  std::string length; ///< as a number: `i.len`, `C`, `16`
  std::string range;  ///< of `index`: `i`, `0..C`, `0..16`
  int64_t most = 1;   ///< its largest value
  std::optional<int64_t> constant;
  std::vector<Axis> factors = {}; ///< of a product of two lengths; the first may be a constant
  bool operator==(const Axis &other) const { return name == other.name; }
  bool isOne() const { return constant == 1; }
};

/// An axis of constant length.
Axis constantAxis(int64_t length);
/// A dimension `name` of at most `most`.
Axis dimAxis(const std::string &name, int64_t most);
/// An axis as long as the product of two lengths of which at least one is no constant.
Axis productAxis(const Axis &a, const Axis &b);
/// A range of at most `most` positions, the variable of a loop.
Axis rangeAxis(const std::string &name, int64_t most);

using Shape = std::vector<Axis>;

struct Type {
  ElemKind elem = ElemKind::F32;
  Shape shape;
  bool operator==(const Type &) const = default;
  /// `f32[i, 16]`, or `f32` of a scalar.
  std::string text() const;
  Type with(ElemKind other) const { return {other, shape}; }
  Type with(Shape other) const { return {elem, std::move(other)}; }
};

/// What is known of the elements of a value. As long as they are exact (small multiples of a power
/// of two) results of all executors are equal, whatever the order of what was computed; what was
/// rounded goes only through operations in which a small error stays one.
struct Bound {
  double most = 0; ///< their largest magnitude
  int bits = 0;    ///< they are multiples of 2^-bits
  bool exact = true;
};

/// Of the elements of arguments.
inline constexpr Bound kArgument{6, 0, true};

/// An expression that can stand as an operand.
struct Term {
  std::string text;
  Bound bound;
};

/// A name in scope.
struct Variable {
  std::string name;
  Type type;
  Bound bound;             ///< of what is assigned, too
  bool assignable = false; ///< a `var` that may get any value within its bound
};

/// How large a value of the type may be with its last bit still exact.
double exactLimit(ElemKind elem);

} // namespace ptl::differential
