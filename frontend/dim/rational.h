// Exact rational numbers of any size, for constant expressions. Small values stay in machine words.
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
  /// Needs `*this >= other`.
  Natural operator-(const Natural &other) const;
  Natural operator*(const Natural &other) const;
  Natural shiftLeft(size_t bits) const;
  Natural shiftRight(size_t bits) const;
  /// Quotient; the remainder goes to `*remainder` when given. The divisor is not zero.
  Natural divide(const Natural &divisor, Natural *remainder = nullptr) const;
  static Natural gcd(Natural a, Natural b);
  std::string toString() const;

private:
  /// Little endian, base 2^32.
  using Digits = std::vector<uint32_t>;
  explicit Natural(Digits digits);
  bool isWord() const { return digits_.empty(); }
  Digits digits() const;

  uint64_t word_ = 0; ///< the value where it fits, else 0
  Digits digits_;     ///< the value where it does not: three or more, no leading zeros
};

/// A fraction in lowest terms.
class Rational {
public:
  Rational() = default;
  Rational(int64_t value);
  Rational(bool negative, Natural numerator, Natural denominator);
  /// Decimal literal with optional point and exponent, `_` allowed, `0x…`. Nothing when the
  /// exponent is absurd (beyond ±5000) or the text is no literal.
  static std::optional<Rational> parse(std::string_view text);

  bool isZero() const { return numerator_.isZero(); }
  bool isNegative() const { return negative_; }
  bool isInteger() const { return denominator_.isOne(); }
  /// Both together longer than any sensible constant; further arithmetic should stop.
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
  /// The divisor is not zero.
  Rational operator/(const Rational &other) const;
  /// Largest integer not above.
  Rational floor() const;
  /// The value with `precision` bits of significand, subnormals below `2^minExponent` (exponent of
  /// the smallest normal), infinite from where `2^(maxExponent+1)` would round to.
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
