#include "frontend/sema/rational.h"

#include <algorithm>
#include <bit>

namespace ptl {

Natural::Natural(uint64_t value) {
  if (value)
    digits_.push_back(static_cast<uint32_t>(value));
  if (value >> 32)
    digits_.push_back(static_cast<uint32_t>(value >> 32));
}

void Natural::trim() {
  while (!digits_.empty() && digits_.back() == 0)
    digits_.pop_back();
}

size_t Natural::bitLength() const {
  return digits_.empty() ? 0 : digits_.size() * 32 - std::countl_zero(digits_.back());
}

bool Natural::bit(size_t index) const {
  size_t word = index / 32;
  return word < digits_.size() && (digits_[word] >> (index % 32) & 1);
}

std::optional<uint64_t> Natural::toUint64() const {
  if (digits_.size() > 2)
    return std::nullopt;
  uint64_t value = 0;
  for (size_t i = digits_.size(); i-- > 0;)
    value = value << 32 | digits_[i];
  return value;
}

int Natural::compare(const Natural &other) const {
  if (digits_.size() != other.digits_.size())
    return digits_.size() < other.digits_.size() ? -1 : 1;
  for (size_t i = digits_.size(); i-- > 0;)
    if (digits_[i] != other.digits_[i])
      return digits_[i] < other.digits_[i] ? -1 : 1;
  return 0;
}

Natural Natural::operator+(const Natural &other) const {
  Natural sum;
  size_t size = std::max(digits_.size(), other.digits_.size());
  uint64_t carry = 0;
  for (size_t i = 0; i < size; ++i) {
    carry += i < digits_.size() ? digits_[i] : 0;
    carry += i < other.digits_.size() ? other.digits_[i] : 0;
    sum.digits_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry)
    sum.digits_.push_back(static_cast<uint32_t>(carry));
  return sum;
}

Natural Natural::operator-(const Natural &other) const {
  Natural difference;
  int64_t borrow = 0;
  for (size_t i = 0; i < digits_.size(); ++i) {
    int64_t digit =
        int64_t(digits_[i]) - borrow - (i < other.digits_.size() ? other.digits_[i] : 0);
    borrow = digit < 0;
    difference.digits_.push_back(static_cast<uint32_t>(digit));
  }
  difference.trim();
  return difference;
}

Natural Natural::operator*(const Natural &other) const {
  Natural product;
  product.digits_.assign(digits_.size() + other.digits_.size(), 0);
  for (size_t i = 0; i < digits_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < other.digits_.size(); ++j) {
      carry += uint64_t(digits_[i]) * other.digits_[j] + product.digits_[i + j];
      product.digits_[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product.digits_[i + other.digits_.size()] += static_cast<uint32_t>(carry);
  }
  product.trim();
  return product;
}

Natural Natural::shiftLeft(size_t bits) const {
  if (isZero())
    return *this;
  Natural shifted;
  shifted.digits_.assign(bits / 32, 0);
  uint64_t carry = 0;
  for (uint32_t digit : digits_) {
    carry |= uint64_t(digit) << (bits % 32);
    shifted.digits_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry)
    shifted.digits_.push_back(static_cast<uint32_t>(carry));
  return shifted;
}

Natural Natural::shiftRight(size_t bits) const {
  Natural shifted;
  size_t words = bits / 32;
  for (size_t i = words; i < digits_.size(); ++i) {
    uint64_t wide = digits_[i];
    if (i + 1 < digits_.size())
      wide |= uint64_t(digits_[i + 1]) << 32;
    shifted.digits_.push_back(static_cast<uint32_t>(wide >> (bits % 32)));
  }
  shifted.trim();
  return shifted;
}

Natural Natural::divide(const Natural &divisor, Natural *remainder) const {
  if (auto a = toUint64(), b = divisor.toUint64(); a && b) {
    if (remainder)
      *remainder = Natural(*a % *b);
    return Natural(*a / *b);
  }
  Natural quotient, rest;
  if (divisor.digits_.size() == 1) {
    quotient.digits_.assign(digits_.size(), 0);
    uint64_t carry = 0;
    for (size_t i = digits_.size(); i-- > 0;) {
      carry = carry << 32 | digits_[i];
      quotient.digits_[i] = static_cast<uint32_t>(carry / divisor.digits_[0]);
      carry %= divisor.digits_[0];
    }
    rest = Natural(carry);
  } else {
    // Bit by bit of the quotient: operands are constants that people write, a few hundred bits at
    // most.
    rest = *this;
    size_t length = bitLength(), divisorLength = divisor.bitLength();
    size_t steps = length >= divisorLength ? length - divisorLength + 1 : 0;
    quotient.digits_.assign(steps / 32 + 1, 0);
    for (size_t i = steps; i-- > 0;) {
      Natural shifted = divisor.shiftLeft(i);
      if (rest.compare(shifted) < 0)
        continue;
      rest = rest - shifted;
      quotient.digits_[i / 32] |= 1u << (i % 32);
    }
  }
  quotient.trim();
  if (remainder)
    *remainder = rest;
  return quotient;
}

Natural Natural::gcd(Natural a, Natural b) {
  while (!b.isZero()) {
    Natural rest;
    a.divide(b, &rest);
    a = std::move(b);
    b = std::move(rest);
  }
  return a;
}

std::string Natural::toString() const {
  if (isZero())
    return "0";
  std::string text;
  Natural rest = *this;
  while (!rest.isZero()) {
    Natural digit;
    rest = rest.divide(Natural(10), &digit);
    text += static_cast<char>('0' + *digit.toUint64());
  }
  std::reverse(text.begin(), text.end());
  return text;
}

} // namespace ptl
