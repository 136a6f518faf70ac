#include "runtime/half_calls.h"

#include <bit>
#include <cstdint>

#if defined(__x86_64__)

namespace {

constexpr uint64_t kInfinity = uint64_t(0x7ff) << 52;
constexpr int kDropped = 52 - 10; // bits of the fraction that `f16` does not have

/// Nothing here may compute with `_Float16`, which would call these functions.
uint16_t rounded(double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 63 << 15);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude > kInfinity)
    return sign | 0x7e00 | static_cast<uint16_t>(magnitude >> kDropped & 0x1ff);
  if (magnitude >= std::bit_cast<uint64_t>(65520.0)) // halfway to what would come after the largest
    return sign | 0x7c00;
  if (magnitude < std::bit_cast<uint64_t>(0x1p-14)) {
    // A multiple of 2^-24: adding 2^52 rounds to a whole number.
    volatile double whole = std::bit_cast<double>(magnitude) * 0x1p24 + 0x1p52;
    return sign | static_cast<uint16_t>(whole - 0x1p52);
  }
  uint64_t even = magnitude >> kDropped & 1;
  magnitude += (uint64_t(1) << (kDropped - 1)) - 1 + even;
  return sign | static_cast<uint16_t>((magnitude >> kDropped) - (uint64_t(1023 - 15) << 10));
}

} // namespace

float __extendhfsf2(_Float16 value) {
  auto bits = std::bit_cast<uint16_t>(value);
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinities, and NaNs, which become quiet
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 |
                                (magnitude > 0x7c00 ? 0x400000 : 0));
  if (magnitude < 0x400) { // a multiple of 2^-24
    float small = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(small));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (uint32_t(127 - 15) << 23)));
}

// Every float is a double, so this rounds once.
_Float16 __truncsfhf2(float value) { return std::bit_cast<_Float16>(rounded(value)); }

_Float16 __truncdfhf2(double value) { return std::bit_cast<_Float16>(rounded(value)); }

#endif
