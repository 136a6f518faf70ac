
#include "codegen/reference/scalar_float.h"

#include <cmath>

namespace ptl::reference {
namespace {

double signOf(double x) {
  // Zeros keep their sign, and NaN stays.
  if (std::isnan(x) || x == 0)
    return x;
  return x < 0 ? -1 : 1;
}

double sigmoid(double x) {
  // Each form only takes exponentials of negative numbers, which cannot overflow.
  if (x >= 0)
    return 1 / (1 + std::exp(-x));
  double e = std::exp(x);
  return e / (1 + e);
}

std::optional<double> rounding(OpId op, double x) {
  switch (op) {
  case OpId::Neg:
    return -x;
  case OpId::Abs:
    return std::fabs(x);
  case OpId::Sign:
    return signOf(x);
  case OpId::Floor:
    return std::floor(x);
  case OpId::Ceil:
    return std::ceil(x);
  case OpId::Round:
    // The default rounding mode rounds halves to even.
    return std::nearbyint(x);
  case OpId::Trunc:
    return std::trunc(x);
  case OpId::Sqrt:
    return std::sqrt(x);
  case OpId::Rsqrt:
    return 1 / std::sqrt(x);
  case OpId::Reciprocal:
    return 1 / x;
  default:
    return std::nullopt;
  }
}

std::optional<double> exponential(OpId op, double x) {
  switch (op) {
  case OpId::Exp:
    return std::exp(x);
  case OpId::Exp2:
    return std::exp2(x);
  case OpId::Expm1:
    return std::expm1(x);
  case OpId::Log:
    return std::log(x);
  case OpId::Log2:
    return std::log2(x);
  case OpId::Log10:
    return std::log10(x);
  case OpId::Log1p:
    return std::log1p(x);
  case OpId::Erf:
    return std::erf(x);
  case OpId::Erfc:
    return std::erfc(x);
  case OpId::Sigmoid:
    return sigmoid(x);
  default:
    return std::nullopt;
  }
}

std::optional<double> trigonometric(OpId op, double x) {
  switch (op) {
  case OpId::Sin:
    return std::sin(x);
  case OpId::Cos:
    return std::cos(x);
  case OpId::Tan:
    return std::tan(x);
  case OpId::Asin:
    return std::asin(x);
  case OpId::Acos:
    return std::acos(x);
  case OpId::Atan:
    return std::atan(x);
  case OpId::Sinh:
    return std::sinh(x);
  case OpId::Cosh:
    return std::cosh(x);
  case OpId::Tanh:
    return std::tanh(x);
  case OpId::Asinh:
    return std::asinh(x);
  case OpId::Acosh:
    return std::acosh(x);
  case OpId::Atanh:
    return std::atanh(x);
  default:
    return std::nullopt;
  }
}

/// The larger value. A NaN wins over numbers, and +0 counts as larger than -0.
double maxNan(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

} // namespace

std::optional<double> floatUnary(OpId op, double x) {
  if (auto value = rounding(op, x))
    return value;
  if (auto value = exponential(op, x))
    return value;
  return trigonometric(op, x);
}

std::optional<double> floatBinary(OpId op, double a, double b) {
  switch (op) {
  case OpId::Add:
    return a + b;
  case OpId::Sub:
    return a - b;
  case OpId::Mul:
    return a * b;
  case OpId::Div:
    return a / b;
  case OpId::Rem:
    return std::fmod(a, b);
  case OpId::Pow:
    return std::pow(a, b);
  case OpId::Atan2:
    return std::atan2(a, b);
  case OpId::Copysign:
    return std::copysign(a, b);
  case OpId::Max:
    // These ignore a NaN if the other operand is a number.
    return std::fmax(a, b);
  case OpId::Min:
    return std::fmin(a, b);
  case OpId::MaxNan:
    return maxNan(a, b);
  case OpId::MinNan:
    // The smaller of two is the negated larger of the negated ones, which also orders the zeros.
    return -maxNan(-a, -b);
  default:
    return std::nullopt;
  }
}

std::optional<double> floatTernary(OpId op, ElemKind elem, double a, double b, double c) {
  switch (op) {
  case OpId::Clamp:
    // `fmax` and `fmin` would turn a NaN into a bound.
    if (std::isnan(a))
      return a;
    return std::fmin(std::fmax(a, b), c);
  case OpId::Fma:
    // `double` holds the product of narrower types exactly, but their sum would be rounded twice.
    if (elem == ElemKind::F32)
      return std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
    return std::fma(a, b, c);
  default:
    return std::nullopt;
  }
}

} // namespace ptl::reference
