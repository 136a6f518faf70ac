// Natural numbers of any size. Small values are kept in machine words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

} // namespace ptl
