#include "runtime/half_calls.h"

#include "runtime/elem.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>

#if defined(__x86_64__)

namespace ptl::rt {
namespace {

uint16_t bitsOf(_Float16 value) { return std::bit_cast<uint16_t>(value); }

double valueOf(uint16_t bits) { return loadElem(PTL_F16, &bits).asDouble(); }

TEST(HalfCalls, EveryHalfThereAndBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    auto bits = static_cast<uint16_t>(i);
    float wide = __extendhfsf2(std::bit_cast<_Float16>(bits));
    double value = valueOf(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(wide)) << i;
      ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << i;
      ASSERT_TRUE(std::isnan(valueOf(bitsOf(__truncsfhf2(wide))))) << i;
      ASSERT_TRUE(std::isnan(valueOf(bitsOf(__truncdfhf2(wide))))) << i;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(wide), std::bit_cast<uint32_t>(static_cast<float>(value)))
        << i;
    ASSERT_EQ(bitsOf(__truncsfhf2(wide)), bits) << i;
    ASSERT_EQ(bitsOf(__truncdfhf2(wide)), bits) << i;
  }
}

TEST(HalfCalls, RoundToNearestEven) {
  constexpr uint16_t kLargest = 0x7bff;
  for (uint32_t i = 0; i <= kLargest; ++i)
    for (uint32_t sign : {0U, 0x8000U}) {
      auto low = static_cast<uint16_t>(i | sign), high = static_cast<uint16_t>(low + 1);
      double below = valueOf(low);
      // What would come after the largest is an infinity.
      double above = i == kLargest ? std::copysign(65536.0, below) : valueOf(high);
      double middle = (below + above) / 2;
      uint16_t even = low % 2 == 0 ? low : high;
      auto narrow = static_cast<float>(middle); // exactly
      ASSERT_EQ(narrow, middle);
      ASSERT_EQ(bitsOf(__truncdfhf2(middle)), even) << i;
      ASSERT_EQ(bitsOf(__truncsfhf2(narrow)), even) << i;
      ASSERT_EQ(bitsOf(__truncdfhf2(std::nextafter(middle, below))), low) << i;
      ASSERT_EQ(bitsOf(__truncdfhf2(std::nextafter(middle, above))), high) << i;
      ASSERT_EQ(bitsOf(__truncsfhf2(std::nextafter(narrow, static_cast<float>(below)))), low) << i;
      ASSERT_EQ(bitsOf(__truncsfhf2(std::nextafter(narrow, static_cast<float>(above)))), high) << i;
    }
}

TEST(HalfCalls, WhatIsFarOutside) {
  EXPECT_EQ(bitsOf(__truncdfhf2(1e300)), 0x7c00);
  EXPECT_EQ(bitsOf(__truncdfhf2(-INFINITY)), 0xfc00);
  EXPECT_EQ(bitsOf(__truncsfhf2(-1e-40F)), 0x8000);
  EXPECT_EQ(bitsOf(__truncdfhf2(5e-324)), 0);
  // Rounding to `f32` first would give a tie, and then the other neighbour.
  EXPECT_EQ(bitsOf(__truncdfhf2(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
}

} // namespace
} // namespace ptl::rt

#endif
