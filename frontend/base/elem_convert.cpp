#include "frontend/base/elem_convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ptl {
double roundedToWhole(double value, RoundMode mode) {
  switch (mode) {
  case RoundMode::Even:
    return std::nearbyint(value);
  case RoundMode::Away:
    return std::round(value);
  case RoundMode::Zero:
    return std::trunc(value);
  case RoundMode::Down:
    return std::floor(value);
  case RoundMode::Up:
    return std::ceil(value);
  }
  return value;
}

namespace {

/// A float type in numbers. f8e4m3 has no infinity: its largest exponent holds numbers, and NaN
/// where all is one. f4e2m1 has neither. f8e8m0 is none of these: it has functions of its own.
struct Format {
  int mantissa;
  int exponentBits;
  bool hasInfinity;
  bool hasNan;
  bool saturates;

  explicit Format(ElemKind kind)
      : mantissa(elemInfo(kind).mantissaBits), exponentBits(elemInfo(kind).exponentBits),
        hasInfinity(kind != ElemKind::F8E4M3 && kind != ElemKind::F4E2M1),
        hasNan(kind != ElemKind::F4E2M1), saturates(elemBits(kind) <= 8) {}
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// Exponent of the last place of the smallest numbers.
  int lowestExponent() const { return 1 - bias() - mantissa; }
  uint64_t signBit() const { return uint64_t{1} << (mantissa + exponentBits); }
  uint64_t allExponent() const { return ((uint64_t{1} << exponentBits) - 1) << mantissa; }
  uint64_t infinity() const { return allExponent(); }
  uint64_t largest() const {
    uint64_t allOnes = signBit() - 1;
    return hasInfinity ? allExponent() - 1 : hasNan ? allOnes - 1 : allOnes;
  }
  uint64_t quietNan() const {
    if (saturates)
      return allExponent() | ((uint64_t{1} << mantissa) - 1);
    return allExponent() | (uint64_t{1} << (mantissa - 1));
  }
};

/// Whether a magnitude is rounded up, given its last kept bit and what was cut off.
bool roundsUp(RoundMode mode, bool negative, bool lastBit, bool half, bool beyondHalf) {
  switch (mode) {
  case RoundMode::Even:
    return half && (beyondHalf || lastBit);
  case RoundMode::Away:
    return half;
  case RoundMode::Zero:
    return false;
  case RoundMode::Down:
    return negative && (half || beyondHalf);
  case RoundMode::Up:
    return !negative && (half || beyondHalf);
  }
  return false;
}

uint64_t overflowed(const Format &format, bool negative, RoundMode mode) {
  bool inward = mode == RoundMode::Zero || (mode == RoundMode::Down && !negative) ||
                (mode == RoundMode::Up && negative);
  return format.saturates || inward ? format.largest() : format.infinity();
}

/// Bits, without sign, of `significand * 2^exponent` rounded to the format. The one place that
/// rounds floats.
uint64_t encodeMagnitude(const Format &format, bool negative, uint64_t significand, int exponent,
                         RoundMode mode) {
  if (significand == 0)
    return 0;
  // Cut so that the kept part has mantissa + 1 bits, or fewer below the normal range.
  int width = std::bit_width(significand);
  int cut = std::max(width - (format.mantissa + 1), format.lowestExponent() - exponent);
  uint64_t kept = significand;
  if (cut > 64) { // below half of the smallest number
    kept = roundsUp(mode, negative, false, false, true) ? 1 : 0;
    exponent = format.lowestExponent();
  } else if (cut > 0) {
    kept = cut == 64 ? 0 : significand >> cut;
    bool half = (significand >> (cut - 1)) & 1;
    bool beyondHalf = (significand & ((uint64_t{1} << (cut - 1)) - 1)) != 0;
    kept += roundsUp(mode, negative, kept & 1, half, beyondHalf);
    exponent += cut;
  } else { // widen so that a normal number has its leading one in place
    kept = significand << -cut;
    exponent += cut;
  }
  // Rounding may have carried into one more bit; the sum below then steps into the next binade by
  // itself.
  int biased = exponent - format.lowestExponent();
  bool isNormal = (kept >> format.mantissa) != 0;
  uint64_t bits = isNormal ? (static_cast<uint64_t>(biased) << format.mantissa) + kept : kept;
  if (biased < 0 || bits > format.largest() || biased >= (1 << format.exponentBits))
    return overflowed(format, negative, mode);
  return bits;
}

uint64_t encodeParts(const Format &format, bool negative, uint64_t significand, int exponent,
                     RoundMode mode) {
  return encodeMagnitude(format, negative, significand, exponent, mode) |
         (negative ? format.signBit() : 0);
}

/// The code of `significand * 2^exponent` as f8e8m0: a power of two, from 2^-127, which stands for
/// all that is smaller, 0 included, to 2^127, which stands for all that is larger.
uint64_t encodeScale(uint64_t significand, int exponent, RoundMode mode) {
  if (significand == 0)
    return 0;
  constexpr int bias = 127, largest = 254;
  int width = std::bit_width(significand), code = exponent + width - 1 + bias;
  // The bits behind the leading one decide, the first of which is half of the step.
  uint64_t behind = significand - (uint64_t{1} << (width - 1));
  uint64_t halfBit = width > 1 ? uint64_t{1} << (width - 2) : 0;
  bool half = (behind & halfBit) != 0, beyondHalf = (behind & ~halfBit) != 0;
  code += roundsUp(mode, /*negative=*/false, (code & 1) != 0, half, beyondHalf);
  return static_cast<uint64_t>(std::clamp(code, 0, largest));
}

/// What f8e8m0 has for NaN and for negative numbers.
constexpr uint64_t nanScale = 255;

bool isUnsignedKind(ElemKind kind) { return elemInfo(kind).elemClass == ElemClass::Unsigned; }

/// An integer of type `from` rounded once to the float type `to`.
double integerToFloat(int64_t value, ElemKind from, ElemKind to, RoundMode mode) {
  bool negative = !isUnsignedKind(from) && value < 0;
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (to == ElemKind::F8E8M0)
    return decodeFloat(negative ? nanScale : encodeFloat(static_cast<double>(magnitude), to, mode),
                       to);
  return decodeFloat(encodeParts(Format(to), negative, magnitude, 0, mode), to);
}

int64_t floatToInteger(double value, ElemKind to, RoundMode mode) {
  if (std::isnan(value))
    return 0;
  double whole = roundedToWhole(value, mode);
  if (isUnsignedKind(to)) {
    if (whole <= 0)
      return 0;
    if (whole >= std::ldexp(1.0, static_cast<int>(elemBits(to))))
      return largestInteger(to);
    return static_cast<int64_t>(static_cast<uint64_t>(whole));
  }
  double limit = std::ldexp(1.0, static_cast<int>(elemBits(to)) - 1);
  if (whole >= limit)
    return largestInteger(to);
  if (whole < -limit)
    return smallestInteger(to);
  return static_cast<int64_t>(whole);
}

int64_t saturated(int64_t value, ElemKind from, ElemKind to) {
  if (isUnsignedKind(from)) {
    uint64_t limit = static_cast<uint64_t>(largestInteger(to));
    return static_cast<int64_t>(std::min(static_cast<uint64_t>(value), limit));
  }
  if (isUnsignedKind(to)) {
    if (value < 0)
      return 0;
    return static_cast<int64_t>(
        std::min(static_cast<uint64_t>(value), static_cast<uint64_t>(largestInteger(to))));
  }
  return std::clamp(value, smallestInteger(to), largestInteger(to));
}

} // namespace

uint64_t encodeFloat(double value, ElemKind kind, RoundMode mode) {
  if (kind == ElemKind::F8E8M0) {
    if (std::isnan(value) || value < 0)
      return nanScale;
    // A number that is larger than all of the type stands for infinity.
    constexpr double beyond = 0x1p200;
    int exponent = 0;
    double fraction = std::frexp(std::min(value, beyond), &exponent);
    return encodeScale(static_cast<uint64_t>(std::ldexp(fraction, 53)), exponent - 53, mode);
  }
  Format format(kind);
  uint64_t sign = std::signbit(value) ? format.signBit() : 0;
  if (kind == ElemKind::F64)
    return std::bit_cast<uint64_t>(value);
  if (std::isnan(value)) // becomes 0, as in integers, where the type has none
    return format.hasNan ? format.quietNan() | sign : 0;
  if (kind == ElemKind::F32 && mode == RoundMode::Even) // the machine does the same, faster
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isinf(value))
    return (format.hasInfinity ? format.infinity() : format.largest()) | sign;
  // The parts of a `double`: 52 bits behind a leading one, which the smallest lack.
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t significand = bits & ((uint64_t{1} << 52) - 1);
  int biased = static_cast<int>(bits >> 52 & 0x7ff);
  if (biased > 0)
    significand |= uint64_t{1} << 52;
  return encodeParts(format, sign != 0, significand, std::max(biased, 1) - 1075, mode);
}

double decodeFloat(uint64_t bits, ElemKind kind) {
  if (kind == ElemKind::F64)
    return std::bit_cast<double>(bits);
  if (kind == ElemKind::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (kind == ElemKind::F8E8M0)
    return bits == nanScale ? std::numeric_limits<double>::quiet_NaN()
                            : std::ldexp(1.0, static_cast<int>(bits) - 127);
  Format format(kind);
  bool negative = (bits & format.signBit()) != 0;
  uint64_t magnitude = bits & (format.signBit() - 1);
  double value;
  if (format.hasInfinity && magnitude == format.infinity())
    value = std::numeric_limits<double>::infinity();
  else if (magnitude > format.largest())
    value = std::numeric_limits<double>::quiet_NaN();
  else {
    uint64_t fraction = magnitude & ((uint64_t{1} << format.mantissa) - 1);
    int biased = static_cast<int>(magnitude >> format.mantissa);
    if (biased > 0)
      fraction |= uint64_t{1} << format.mantissa;
    int exponent = std::max(biased, 1) - 1 + format.lowestExponent();
    // A power of two within the range of a `double`, so that the product is exact.
    value = static_cast<double>(fraction) *
            std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  }
  return negative ? -value : value;
}

double roundFloat(double value, ElemKind kind, RoundMode mode) {
  if (kind == ElemKind::F64)
    return value;
  if (kind == ElemKind::F32 && mode == RoundMode::Even)
    return static_cast<float>(value); // the machine does the same, faster
  return decodeFloat(encodeFloat(value, kind, mode), kind);
}

int64_t wrapInteger(uint64_t value, ElemKind kind) {
  if (kind == ElemKind::Bool)
    return value != 0;
  unsigned unused = 64 - elemBits(kind);
  if (isUnsignedKind(kind))
    return static_cast<int64_t>(value << unused >> unused);
  return static_cast<int64_t>(value << unused) >> unused;
}

int64_t smallestInteger(ElemKind kind) {
  if (!isSigned(kind))
    return 0;
  return static_cast<int64_t>(~uint64_t{0} << (elemBits(kind) - 1));
}

int64_t largestInteger(ElemKind kind) {
  if (kind == ElemKind::Bool)
    return 1;
  unsigned bits = elemBits(kind) - (isSigned(kind) ? 1 : 0);
  return static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
}

double convertFloat(double value, ElemKind to, RoundMode mode) {
  if (!std::isinf(value) || !Format(to).saturates || to == ElemKind::F8E8M0)
    return roundFloat(value, to, mode);
  return std::copysign(decodeFloat(Format(to).largest(), to), value);
}

Scalar roundScalar(Scalar value, ElemKind kind) {
  if (isFloat(kind))
    return Scalar::real(roundFloat(value.f, kind));
  return Scalar::integer(wrapInteger(static_cast<uint64_t>(value.i), kind));
}

Scalar convertScalar(Scalar value, ElemKind from, ElemKind to, RoundMode mode, bool saturate) {
  if (to == ElemKind::Bool)
    return Scalar::boolean(isFloat(from) ? value.f != 0 : value.i != 0);
  if (isFloat(to))
    return Scalar::real(isFloat(from) ? convertFloat(value.f, to, mode)
                                      : integerToFloat(value.i, from, to, mode));
  if (isFloat(from))
    return Scalar::integer(floatToInteger(value.f, to, mode));
  if (saturate)
    return Scalar::integer(saturated(value.i, from, to));
  return Scalar::integer(wrapInteger(static_cast<uint64_t>(value.i), to));
}

Scalar bitcastScalar(Scalar value, ElemKind from, ElemKind to) {
  uint64_t bits = isFloat(from) ? encodeFloat(value.f, from) : static_cast<uint64_t>(value.i);
  if (isFloat(to))
    return Scalar::real(decodeFloat(bits, to));
  return Scalar::integer(wrapInteger(bits, to));
}

Scalar loadElem(const void *memory, ElemKind kind) {
  uint64_t bits = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&bits, memory, elemBytes(kind));
  if (isFloat(kind))
    return Scalar::real(decodeFloat(bits, kind));
  return Scalar::integer(wrapInteger(bits, kind));
}

void storeElem(void *memory, ElemKind kind, Scalar value) {
  uint64_t bits = isFloat(kind) ? encodeFloat(value.f, kind) : static_cast<uint64_t>(value.i);
  std::memcpy(memory, &bits, elemBytes(kind));
}

} // namespace ptl
