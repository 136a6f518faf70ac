// Exact rational numbers of any size, for constant expressions. Small values are kept in machine
// words.
#pragma once

#include "frontend/base/round_mode.h"
#include "frontend/dim/natural.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// A fraction in lowest terms.
class Rational {
public:
  Rational() = default;
  Rational(int64_t value);
  Rational(bool negative, Natural numerator, Natural denominator);
  /// Parses a decimal literal with optional point and exponent, with `_` allowed, or `0x…`. Nothing
  /// if the exponent is beyond ±5000 or the text is not a literal.
  static std::optional<Rational> parse(std::string_view text);

  bool isZero() const { return numerator_.isZero(); }
  bool isNegative() const { return negative_; }
  bool isInteger() const { return denominator_.isOne(); }
  /// Whether numerator and denominator together are longer than any sensible constant; callers
  /// should then stop.
  bool isHuge() const;
  const Natural &numerator() const { return numerator_; }
  const Natural &denominator() const { return denominator_; }
  std::optional<int64_t> toInt64() const;
  std::optional<uint64_t> toUint64() const;
  /// -1, 0 or 1.
  int compare(const Rational &other) const;
  Rational operator-() const;
  Rational operator+(const Rational &other) const;
  Rational operator-(const Rational &other) const;
  Rational operator*(const Rational &other) const;
  /// Precondition: the divisor is not zero.
  Rational operator/(const Rational &other) const;
  /// The largest integer that is not greater.
  Rational floor() const;
  /// The value rounded to `precision` bits of significand, with subnormals below `2^minExponent`
  /// (the exponent of the smallest normal number); values that would round to `2^(maxExponent+1)`
  /// or more become infinite.
  double toFloat(int precision, int minExponent, int maxExponent,
                 RoundMode mode = RoundMode::Even) const;
  double toDouble() const { return toFloat(53, -1022, 1023); }
  /// `7`, `-1/3`.
  std::string toString() const;

private:
  void normalise();
  bool negative_ = false;
  Natural numerator_;
  Natural denominator_ = Natural(1);
};

} // namespace ptl
