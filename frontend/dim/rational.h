// Exact rational numbers of any size, for constant expressions. Small values are kept in machine
// words.
#pragma once

#include "frontend/base/round_mode.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// A natural number of any size.
class Natural {
public:
  Natural() = default;
  Natural(uint64_t value) : word_(value) {}
  bool isZero() const { return word_ == 0 && isWord(); }
  bool isOne() const { return word_ == 1; }
  size_t bitLength() const;
  bool bit(size_t index) const;
  std::optional<uint64_t> toUint64() const {
    return isWord() ? std::optional(word_) : std::nullopt;
  }
  /// -1, 0 or 1.
  int compare(const Natural &other) const;
  Natural operator+(const Natural &other) const;
  /// Precondition: `*this >= other`.
  Natural operator-(const Natural &other) const;
  Natural operator*(const Natural &other) const;
  Natural shiftLeft(size_t bits) const;
  Natural shiftRight(size_t bits) const;
  /// The quotient; the remainder is stored in `*remainder` unless that is null. Precondition: the
  /// divisor is not zero.
  Natural divide(const Natural &divisor, Natural *remainder = nullptr) const;
  static Natural gcd(Natural a, Natural b);
  std::string toString() const;

private:
  /// Digits in base 2^32, least significant first.
  using Digits = std::vector<uint32_t>;
  explicit Natural(Digits digits);
  bool isWord() const { return digits_.empty(); }
  Digits digits() const;

  uint64_t word_ = 0; ///< the value if it fits, else 0
  Digits digits_;     ///< the value if it does not fit: three or more digits, no leading zeros
};

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
