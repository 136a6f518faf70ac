#include "frontend/sema/const_value.h"

#include "frontend/base/elem_convert.h"

#include <cmath>
#include <limits>

namespace ptl {

static ConstBits floatBits(double value) {
  ConstBits bits;
  bits.floatValue = value;
  return bits;
}

/// A format with `mantissa` fraction bits: IEEE but for f8e4m3, which has no infinity and reaches
/// 448, f4e2m1, which reaches 6, and f8e8m0, of which a constant is a power of two.
static ConstBits roundToFloat(const Rational &number, ElemKind kind, RoundMode mode) {
  const ElemInfo &info = elemInfo(kind);
  int bias = (1 << (info.exponentBits - 1)) - 1;
  ConstBits bits;
  if (isHeldOnly(kind)) {
    bits.floatValue = roundFloat(number.toDouble(), kind, mode);
    bits.fits = kind == ElemKind::F4E2M1 ? std::abs(number.toDouble()) <= 6
                                         : bits.floatValue == number.toDouble();
  } else if (kind == ElemKind::F8E4M3) {
    bits.floatValue = number.toFloat(info.mantissaBits + 1, 1 - bias, bias + 1, mode);
    bits.fits = std::abs(bits.floatValue) <= 448;
  } else {
    bits.floatValue = number.toFloat(info.mantissaBits + 1, 1 - bias, bias, mode);
    bits.fits = !std::isinf(bits.floatValue);
  }
  return bits;
}

static ConstBits roundToInteger(const Rational &number, ElemKind kind) {
  const ElemInfo &info = elemInfo(kind);
  ConstBits bits;
  if (isSigned(kind)) {
    auto value = number.toInt64();
    bits.fits = value && (info.bits == 64 || (*value >= -(int64_t(1) << (info.bits - 1)) &&
                                              *value < (int64_t(1) << (info.bits - 1))));
    bits.intValue = value.value_or(0);
  } else {
    auto value = number.toUint64();
    bits.fits = value && (info.bits == 64 || *value >> info.bits == 0);
    bits.intValue = static_cast<int64_t>(value.value_or(0));
  }
  bits.floatValue = number.toDouble();
  return bits;
}

ConstBits convertConst(const ConstValue &value, Elem elem, RoundMode mode) {
  ConstBits bits;
  ElemKind kind = elem.param ? ElemKind::F64 : elem.kind;
  if (value.kind == ConstKind::Bool) {
    bits.intValue = value.boolean;
    bits.fits = !elem.param && kind == ElemKind::Bool;
    return bits;
  }
  if (value.kind == ConstKind::Number) {
    if (kind == ElemKind::Bool) {
      bits.fits = false;
      return bits;
    }
    bool toInteger =
        isInteger(kind) || (elem.param && elem.param->constraint == ElemConstraint::Integer);
    if (elem.param) {
      bits = floatBits(value.number.toDouble());
      bits.intValue = value.integer().value_or(0);
      // A `T: number` may turn out to be an integer type, which holds no fraction.
      bits.fits = !(toInteger || elem.param->constraint != ElemConstraint::Float) ||
                  value.number.isInteger();
      return bits;
    }
    return toInteger ? roundToInteger(value.number, kind) : roundToFloat(value.number, kind, mode);
  }
  if (elem.param) {
    bits.fits = elem.param->constraint == ElemConstraint::Float;
  } else {
    bool hasInfinity = isFloat(kind) && kind != ElemKind::F8E4M3 && !isHeldOnly(kind);
    bits.fits = value.kind == ConstKind::PlusInf || value.kind == ConstKind::MinusInf
                    ? hasInfinity
                    : isFloat(kind) && kind != ElemKind::F4E2M1;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (value.kind) {
  case ConstKind::PlusInf:
    bits.floatValue = infinity;
    break;
  case ConstKind::MinusInf:
    bits.floatValue = -infinity;
    break;
  case ConstKind::Nan:
    // Its sign means nothing in the language; chips sort those with this one behind everything.
    bits.floatValue = -std::numeric_limits<double>::quiet_NaN();
    break;
  default:
    bits.floatValue = -0.0;
    break;
  }
  return bits;
}

/// `0.125` for 1/8; nothing when the decimal expansion does not end soon.
static std::optional<std::string> decimal(const Rational &number) {
  Rational scaled = number;
  for (int places = 0; places <= 18; ++places) {
    if (scaled.isInteger()) {
      std::string digits = scaled.numerator().toString();
      if (places) {
        if (digits.size() <= size_t(places))
          digits.insert(0, places + 1 - digits.size(), '0');
        digits.insert(digits.size() - places, ".");
      }
      return (scaled.isNegative() ? "-" : "") + digits;
    }
    scaled = scaled * Rational(10);
  }
  return std::nullopt;
}

std::string toString(const ConstValue &value) {
  switch (value.kind) {
  case ConstKind::PlusInf:
    return "inf";
  case ConstKind::MinusInf:
    return "-inf";
  case ConstKind::Nan:
    return "nan";
  case ConstKind::NegativeZero:
    return "-0.0";
  case ConstKind::Bool:
    return value.boolean ? "true" : "false";
  case ConstKind::Number:
    break;
  }
  if (value.number.isHuge())
    return "a number of many digits";
  std::string text = decimal(value.number).value_or(value.number.toString());
  if (value.isFloat && text.find_first_of("./") == std::string::npos)
    text += ".0";
  return text;
}

} // namespace ptl
