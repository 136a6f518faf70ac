// Exact constants: the value of an untyped constant expression before it takes a type.
#pragma once

#include "frontend/dim/rational.h"
#include "frontend/sema/types.h"

#include <optional>
#include <string>

namespace ptl {

enum class ConstKind : uint8_t {
  Number,       ///< `number`, exact
  PlusInf,      ///< `inf`
  MinusInf,     ///< `-inf`
  Nan,          ///< `nan`
  NegativeZero, ///< `-0.0`, which no rational represents
  Bool,         ///< `boolean`
};

/// A constant. `type` is set if a declaration states it (`const EPS: f32 = 1e-6`); an untyped
/// constant takes the type of the other operand, otherwise `int` if `isIntegral()`, otherwise
/// `f32`.
struct ConstValue {
  ConstKind kind = ConstKind::Number;
  Rational number;
  bool boolean = false;
  bool isFloat =
      false; ///< a literal in it has a point or an exponent, or the value is not an integer
  std::optional<ElemKind> type;

  bool isNumber() const { return kind == ConstKind::Number; }
  bool isIntegral() const { return isNumber() && !isFloat && number.isInteger(); }
  /// The value if it is an integer that fits.
  std::optional<int64_t> integer() const {
    return isNumber() && number.isInteger() ? number.toInt64() : std::nullopt;
  }
};

/// The representation of a constant in an element type.
struct ConstBits {
  double floatValue = 0;
  int64_t intValue = 0;
  bool fits = true; ///< false: out of range, or not an integer where one is needed
};

/// Converts with a single rounding, in this mode for floats. A generic type `T` converts to
/// `double`.
ConstBits convertConst(const ConstValue &value, Elem elem, RoundMode mode = RoundMode::Even);

/// PTL spelling: `1/3`, `0.5`, `inf`, `true`.
std::string toString(const ConstValue &value);

} // namespace ptl
