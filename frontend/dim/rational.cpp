#include "frontend/dim/rational.h"

#include <cmath>
#include <limits>

namespace ptl {

static Natural powerOfTen(unsigned exponent) {
  Natural result(1), base(10);
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result * base;
    base = base * base;
  }
  return result;
}

Rational::Rational(int64_t value)
    // Written so that the least int64_t, whose negation does not exist, keeps its magnitude.
    : negative_(value < 0),
      numerator_(value < 0 ? uint64_t(0) - uint64_t(value) : uint64_t(value)) {}

Rational::Rational(bool negative, Natural numerator, Natural denominator)
    : negative_(negative), numerator_(std::move(numerator)), denominator_(std::move(denominator)) {
  normalise();
}

void Rational::normalise() {
  if (numerator_.isZero()) {
    // Zero has one form, without a sign.
    negative_ = false;
    denominator_ = Natural(1);
  } else if (!denominator_.isOne()) {
    Natural common = Natural::gcd(numerator_, denominator_);
    if (!common.isOne()) {
      numerator_ = numerator_.divide(common);
      denominator_ = denominator_.divide(common);
    }
  }
}

static std::optional<Rational> parseRadix(std::string_view digits, unsigned radix) {
  Natural value;
  for (char c : digits) {
    if (c == '_')
      continue;
    unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' ? (c | 32) - 'a' + 10 : 99;
    // Radix 16 takes letters in either case: `| 32` makes them lower case.
    if (digit >= radix)
      return std::nullopt;
    value = value * Natural(radix) + Natural(digit);
  }
  return Rational(false, value, Natural(1));
}

std::optional<Rational> Rational::parse(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    char mark = static_cast<char>(text[1] | 32);
    if (unsigned radix = mark == 'x' ? 16 : mark == 'b' ? 2 : mark == 'o' ? 8 : 0)
      return parseRadix(text.substr(2), radix);
  }
  // The product of natural numbers takes quadratic time, so longer literals are refused.
  constexpr size_t longestLiteral = 4096;
  if (text.empty() || text.size() > longestLiteral)
    return std::nullopt;
  Natural digits;
  uint64_t chunk = 0, chunkScale = 1;
  // 18 digits fit in 64 bits; a product for each single digit would take 18 times as long.
  auto flush = [&] {
    digits = digits * Natural(chunkScale) + Natural(chunk);
    chunk = 0, chunkScale = 1;
  };
  int64_t exponent = 0;
  bool seenPoint = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c == '_')
      continue;
    if (c == '.' && !seenPoint) {
      seenPoint = true;
    } else if (c >= '0' && c <= '9') {
      chunk = chunk * 10 + (c - '0');
      chunkScale *= 10;
      exponent -= seenPoint;
      if (chunkScale == 1'000'000'000'000'000'000u)
        flush();
    } else {
      break;
    }
  }
  flush();
  if (i < text.size()) {
    if ((text[i] | 32) != 'e')
      return std::nullopt;
    bool negative = false;
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-'))
      negative = text[i++] == '-';
    int64_t written = 0;
    for (; i < text.size(); ++i) {
      if (text[i] == '_')
        continue;
      // The bound is far beyond what is accepted below, and keeps the sum from overflowing.
      if (text[i] < '0' || text[i] > '9' || written > 100000)
        return std::nullopt;
      written = written * 10 + (text[i] - '0');
    }
    exponent += negative ? -written : written;
  }
  // A literal of few characters must not become a number of millions of digits. The range holds
  // every value of `f64` with all its digits.
  if (exponent < -10000 || exponent > 5000)
    return std::nullopt;
  if (exponent >= 0)
    return Rational(false, digits * powerOfTen(static_cast<unsigned>(exponent)), Natural(1));
  return Rational(false, digits, powerOfTen(static_cast<unsigned>(-exponent)));
}

bool Rational::isHuge() const {
  constexpr size_t longestInBits = 1 << 15;
  return numerator_.bitLength() + denominator_.bitLength() > longestInBits;
}

std::optional<int64_t> Rational::toInt64() const {
  if (!isInteger())
    return std::nullopt;
  auto magnitude = numerator_.toUint64();
  constexpr uint64_t limit = uint64_t(1) << 63;
  // The negative range is larger by one.
  if (!magnitude || *magnitude > limit - !negative_)
    return std::nullopt;
  return static_cast<int64_t>(negative_ ? uint64_t(0) - *magnitude : *magnitude);
}

std::optional<uint64_t> Rational::toUint64() const {
  return isInteger() && !negative_ ? numerator_.toUint64() : std::nullopt;
}

int Rational::compare(const Rational &other) const {
  if (negative_ != other.negative_)
    return negative_ ? -1 : 1;
  int magnitude = (numerator_ * other.denominator_).compare(other.numerator_ * denominator_);
  return negative_ ? -magnitude : magnitude;
}

Rational Rational::operator-() const {
  Rational result = *this;
  result.negative_ = !negative_ && !isZero();
  return result;
}

Rational Rational::operator+(const Rational &other) const {
  Natural left = numerator_ * other.denominator_, right = other.numerator_ * denominator_;
  Natural denominator = denominator_ * other.denominator_;
  if (negative_ == other.negative_)
    return Rational(negative_, left + right, denominator);
  if (left.compare(right) >= 0)
    return Rational(negative_, left - right, denominator);
  return Rational(other.negative_, right - left, denominator);
}

Rational Rational::operator-(const Rational &other) const { return *this + -other; }

Rational Rational::operator*(const Rational &other) const {
  return Rational(negative_ != other.negative_, numerator_ * other.numerator_,
                  denominator_ * other.denominator_);
}

Rational Rational::operator/(const Rational &other) const {
  return Rational(negative_ != other.negative_, numerator_ * other.denominator_,
                  denominator_ * other.numerator_);
}

Rational Rational::floor() const {
  Natural rest;
  Natural quotient = numerator_.divide(denominator_, &rest);
  // The quotient truncates towards zero, so a negative one with a remainder is one too large.
  if (negative_ && !rest.isZero())
    quotient = quotient + Natural(1);
  return Rational(negative_, quotient, Natural(1));
}

/// Whether a magnitude is rounded up to the next one. `half` is the order of what was cut off and
/// half of the last place.
static bool goesOutwards(RoundMode mode, bool isNegative, bool isExact, int half, bool isOdd) {
  switch (mode) {
  case RoundMode::Even:
    return half > 0 || (half == 0 && isOdd);
  case RoundMode::Away:
    return half >= 0;
  case RoundMode::Zero:
    return false;
  case RoundMode::Down:
    return isNegative && !isExact;
  case RoundMode::Up:
    return !isNegative && !isExact;
  }
  return false;
}

double Rational::toFloat(int precision, int minExponent, int maxExponent, RoundMode mode) const {
  if (isZero())
    return 0;
  auto lengthOf = [](const Natural &n) { return static_cast<int64_t>(n.bitLength()); };
  // 2^exponent <= |this| < 2^(exponent + 2); the comparison below decides which half.
  int64_t exponent = lengthOf(numerator_) - lengthOf(denominator_) - 1;
  Natural scaled = exponent >= 0 ? denominator_.shiftLeft(exponent + 1) : denominator_;
  Natural top = exponent >= 0 ? numerator_ : numerator_.shiftLeft(-exponent - 1);
  if (top.compare(scaled) >= 0)
    ++exponent;
  // The unit in the last place; subnormal numbers have that of the smallest normal one.
  int64_t unit = std::max<int64_t>(exponent, minExponent) - (precision - 1);
  Natural a = unit < 0 ? numerator_.shiftLeft(-unit) : numerator_;
  Natural b = unit > 0 ? denominator_.shiftLeft(unit) : denominator_;
  Natural rest;
  uint64_t significand = a.divide(b, &rest).toUint64().value_or(0);
  int half = rest.shiftLeft(1).compare(b);
  significand += goesOutwards(mode, negative_, rest.isZero(), half, significand & 1);
  double value = std::ldexp(static_cast<double>(significand), static_cast<int>(unit));
  // Rounding may have carried beyond the largest exponent.
  if (value >= std::ldexp(1.0, maxExponent) * 2)
    value = std::numeric_limits<double>::infinity();
  return negative_ ? -value : value;
}

std::string Rational::toString() const {
  std::string text = negative_ ? "-" : "";
  text += numerator_.toString();
  if (!isInteger())
    text += "/" + denominator_.toString();
  return text;
}

} // namespace ptl
