#include "frontend/dim/natural.h"

#include <algorithm>
#include <bit>

namespace ptl {

Natural::Natural(Digits digits) {
  // Leading zeros would make equal numbers differ.
  while (!digits.empty() && digits.back() == 0)
    digits.pop_back();
  // Most numbers fit into a word and need no digits.
  if (digits.size() > 2) {
    digits_ = std::move(digits);
    return;
  }
  for (size_t i = digits.size(); i-- > 0;)
    word_ = word_ << 32 | digits[i];
}

Natural::Digits Natural::digits() const {
  if (!isWord())
    return digits_;
  Digits result;
  for (uint64_t rest = word_; rest != 0; rest >>= 32)
    result.push_back(static_cast<uint32_t>(rest));
  return result;
}

size_t Natural::bitLength() const {
  return isWord() ? static_cast<size_t>(std::bit_width(word_))
                  : digits_.size() * 32 - static_cast<size_t>(std::countl_zero(digits_.back()));
}

bool Natural::bit(size_t index) const {
  if (isWord())
    return index < 64 && (word_ >> index & 1) != 0;
  size_t word = index / 32;
  return word < digits_.size() && (digits_[word] >> (index % 32) & 1);
}

int Natural::compare(const Natural &other) const {
  if (isWord() && other.isWord())
    return word_ < other.word_ ? -1 : word_ > other.word_ ? 1 : 0;
  // Without leading zeros, more digits mean a larger number.
  if (digits_.size() != other.digits_.size())
    return digits_.size() < other.digits_.size() ? -1 : 1;
  for (size_t i = digits_.size(); i-- > 0;)
    if (digits_[i] != other.digits_[i])
      return digits_[i] < other.digits_[i] ? -1 : 1;
  return 0;
}

Natural Natural::operator+(const Natural &other) const {
  uint64_t word;
  // If the words overflow, the digits take over.
  if (isWord() && other.isWord() && !__builtin_add_overflow(word_, other.word_, &word))
    return word;
  Digits a = digits(), b = other.digits(), sum;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    carry += i < a.size() ? a[i] : 0;
    carry += i < b.size() ? b[i] : 0;
    sum.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry)
    sum.push_back(static_cast<uint32_t>(carry));
  return Natural(std::move(sum));
}

Natural Natural::operator-(const Natural &other) const {
  if (isWord() && other.isWord())
    return word_ - other.word_;
  Digits a = digits(), b = other.digits(), difference;
  int64_t borrow = 0;
  // The caller guarantees that the result is not negative.
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t digit = int64_t(a[i]) - borrow - (i < b.size() ? b[i] : 0);
    borrow = digit < 0;
    difference.push_back(static_cast<uint32_t>(digit));
  }
  return Natural(std::move(difference));
}

Natural Natural::operator*(const Natural &other) const {
  uint64_t word;
  if (isWord() && other.isWord() && !__builtin_mul_overflow(word_, other.word_, &word))
    return word;
  Digits a = digits(), b = other.digits(), product(a.size() + b.size(), 0);
  // This is schoolbook multiplication; a product of two digits and both carries fits into 64 bits.
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      carry += uint64_t(a[i]) * b[j] + product[i + j];
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.size()] += static_cast<uint32_t>(carry);
  }
  return Natural(std::move(product));
}

Natural Natural::shiftLeft(size_t bits) const {
  if (isZero())
    return *this;
  if (bits + bitLength() <= 64)
    return word_ << bits;
  // The part within a digit is shifted with a carry into the next.
  Digits shifted(bits / 32, 0);
  uint64_t carry = 0;
  for (uint32_t digit : digits()) {
    carry |= uint64_t(digit) << (bits % 32);
    shifted.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry)
    shifted.push_back(static_cast<uint32_t>(carry));
  return Natural(std::move(shifted));
}

Natural Natural::shiftRight(size_t bits) const {
  if (isWord())
    return bits < 64 ? word_ >> bits : 0;
  Digits shifted;
  for (size_t i = bits / 32; i < digits_.size(); ++i) {
    uint64_t wide = digits_[i];
    if (i + 1 < digits_.size())
      // Each new digit takes its upper bits from the next one.
      wide |= uint64_t(digits_[i + 1]) << 32;
    shifted.push_back(static_cast<uint32_t>(wide >> (bits % 32)));
  }
  return Natural(std::move(shifted));
}

Natural Natural::divide(const Natural &divisor, Natural *remainder) const {
  if (isWord() && divisor.isWord()) {
    uint64_t quotient = word_ / divisor.word_;
    if (remainder)
      *remainder = word_ % divisor.word_;
    return quotient;
  }
  Natural rest;
  Digits quotient;
  // A divisor of one digit allows long division by words.
  if (divisor.bitLength() <= 32) {
    quotient.assign(digits_.size(), 0);
    uint64_t carry = 0;
    for (size_t i = digits_.size(); i-- > 0;) {
      carry = carry << 32 | digits_[i];
      quotient[i] = static_cast<uint32_t>(carry / divisor.word_);
      carry %= divisor.word_;
    }
    rest = carry;
  } else {
    // Bit by bit of the quotient: operands are constants that people write, a few hundred bits at
    // most.
    rest = *this;
    size_t length = bitLength(), divisorLength = divisor.bitLength();
    size_t steps = length >= divisorLength ? length - divisorLength + 1 : 0;
    quotient.assign(steps / 32 + 1, 0);
    for (size_t i = steps; i-- > 0;) {
      Natural shifted = divisor.shiftLeft(i);
      if (rest.compare(shifted) < 0)
        continue;
      rest = rest - shifted;
      quotient[i / 32] |= 1u << (i % 32);
    }
  }
  if (remainder)
    *remainder = rest;
  return Natural(std::move(quotient));
}

Natural Natural::gcd(Natural a, Natural b) {
  // This is Euclid's algorithm.
  while (!b.isZero()) {
    Natural rest;
    a.divide(b, &rest);
    a = std::move(b);
    b = std::move(rest);
  }
  return a;
}

std::string Natural::toString() const {
  if (isWord())
    return std::to_string(word_);
  std::string text;
  Natural rest = *this;
  while (!rest.isZero()) {
    Natural digit;
    rest = rest.divide(Natural(10), &digit);
    // Decimal digits come out from the lowest to the highest.
    text += static_cast<char>('0' + *digit.toUint64());
  }
  std::reverse(text.begin(), text.end());
  return text;
}

} // namespace ptl
