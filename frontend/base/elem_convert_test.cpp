#include "frontend/base/elem_convert.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace ptl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const ElemKind smallFloats[] = {ElemKind::F8E4M3, ElemKind::F8E5M2, ElemKind::F16, ElemKind::BF16};

/// All finite values of a type from 0 up, with their bits.
std::vector<double> magnitudes(ElemKind kind) {
  std::vector<double> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << (elemBits(kind) - 1)); ++bits) {
    double value = decodeFloat(bits, kind);
    if (std::isfinite(value))
      values.push_back(value);
  }
  return values;
}

TEST(ElemConvert, EveryValueSurvivesARoundTrip) {
  for (ElemKind kind : smallFloats)
    for (uint64_t bits = 0; bits < (uint64_t{1} << elemBits(kind)); ++bits) {
      double value = decodeFloat(bits, kind);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(encodeFloat(value, kind), kind)));
      else
        for (RoundMode mode :
             {RoundMode::Even, RoundMode::Away, RoundMode::Zero, RoundMode::Down, RoundMode::Up})
          ASSERT_EQ(encodeFloat(value, kind, mode), bits) << elemName(kind);
    }
}

TEST(ElemConvert, ValuesBetweenNeighboursRoundByTheMode) {
  for (ElemKind kind : smallFloats) {
    std::vector<double> values = magnitudes(kind);
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      double below = values[i], above = values[i + 1], middle = (below + above) / 2;
      ASSERT_LT(below, above);
      double even = i % 2 == 0 ? below : above;
      ASSERT_EQ(roundFloat(middle, kind), even) << elemName(kind) << " " << below;
      ASSERT_EQ(roundFloat(-middle, kind), -even);
      ASSERT_EQ(roundFloat(std::nextafter(middle, 0), kind), below);
      ASSERT_EQ(roundFloat(std::nextafter(middle, kInfinity), kind), above);
      ASSERT_EQ(roundFloat(middle, kind, RoundMode::Away), above);
      ASSERT_EQ(roundFloat(std::nextafter(above, 0), kind, RoundMode::Zero), below);
      ASSERT_EQ(roundFloat(std::nextafter(above, 0), kind, RoundMode::Down), below);
      ASSERT_EQ(roundFloat(-middle, kind, RoundMode::Down), -above);
      ASSERT_EQ(roundFloat(std::nextafter(below, kInfinity), kind, RoundMode::Up), above);
      ASSERT_EQ(roundFloat(-middle, kind, RoundMode::Up), -below);
    }
  }
}

TEST(ElemConvert, BeyondTheRange) {
  EXPECT_EQ(roundFloat(65519, ElemKind::F16), 65504);
  EXPECT_EQ(roundFloat(65520, ElemKind::F16), kInfinity);
  EXPECT_EQ(roundFloat(1e300, ElemKind::F16, RoundMode::Zero), 65504);
  EXPECT_EQ(roundFloat(-1e300, ElemKind::F16, RoundMode::Up), -65504);
  EXPECT_EQ(roundFloat(-1e300, ElemKind::F16, RoundMode::Down), -kInfinity);
  EXPECT_EQ(roundFloat(1e300, ElemKind::F32), kInfinity);
  EXPECT_EQ(roundFloat(1000, ElemKind::F8E4M3), 448);
  EXPECT_EQ(roundFloat(-kInfinity, ElemKind::F8E4M3), -448);
  EXPECT_EQ(roundFloat(1e6, ElemKind::F8E5M2), 57344);
  EXPECT_EQ(roundFloat(-kInfinity, ElemKind::F8E5M2), -kInfinity);
  EXPECT_EQ(convertFloat(-kInfinity, ElemKind::F8E5M2), -57344);
  EXPECT_EQ(convertFloat(kInfinity, ElemKind::F4E2M1), 6);
  EXPECT_EQ(convertFloat(kInfinity, ElemKind::F16), kInfinity);
  EXPECT_EQ(roundFloat(1e-300, ElemKind::F16), 0);
  EXPECT_EQ(roundFloat(1e-300, ElemKind::F16, RoundMode::Up), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(roundFloat(-1e-300, ElemKind::BF16)));
}

TEST(ElemConvert, F32AgreesWithTheMachine) {
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto value = std::bit_cast<double>((state >> 12) | (uint64_t{0x380} + (state & 0xff)) << 52);
    float rounded = static_cast<float>(value);
    ASSERT_EQ(encodeFloat(value, ElemKind::F32), std::bit_cast<uint32_t>(rounded)) << value;
  }
}

TEST(ElemConvert, FloatToInteger) {
  auto convert = [](double value, ElemKind to, RoundMode mode) {
    return convertScalar(Scalar::real(value), ElemKind::F32, to, mode).i;
  };
  EXPECT_EQ(convert(2.5, ElemKind::I8, RoundMode::Even), 2);
  EXPECT_EQ(convert(3.5, ElemKind::I8, RoundMode::Even), 4);
  EXPECT_EQ(convert(-2.5, ElemKind::I8, RoundMode::Away), -3);
  EXPECT_EQ(convert(-2.5, ElemKind::I8, RoundMode::Zero), -2);
  EXPECT_EQ(convert(-2.5, ElemKind::I8, RoundMode::Down), -3);
  EXPECT_EQ(convert(-2.5, ElemKind::I8, RoundMode::Up), -2);
  EXPECT_EQ(convert(200, ElemKind::I8, RoundMode::Even), 127);
  EXPECT_EQ(convert(-200, ElemKind::I4, RoundMode::Even), -8);
  EXPECT_EQ(convert(-3, ElemKind::U32, RoundMode::Even), 0);
  EXPECT_EQ(convert(NAN, ElemKind::I32, RoundMode::Even), 0);
  EXPECT_EQ(convert(1e30, ElemKind::I64, RoundMode::Even), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert(-1e30, ElemKind::Int, RoundMode::Even), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(static_cast<uint64_t>(convert(1e30, ElemKind::U64, RoundMode::Even)), ~uint64_t{0});
}

TEST(ElemConvert, FourBitsRoundAndSaturate) {
  auto round = [](double x, RoundMode mode = RoundMode::Even) {
    return roundFloat(x, ElemKind::F4E2M1, mode);
  };
  // All numbers of the type, and those in the middle between them, which go to the even one.
  const double all[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(decodeFloat(i, ElemKind::F4E2M1), all[i]);
    EXPECT_EQ(encodeFloat(-all[i], ElemKind::F4E2M1), i | 8);
    EXPECT_EQ(round(all[i]), all[i]);
    if (i + 1 == std::size(all))
      break;
    double middle = (all[i] + all[i + 1]) / 2;
    EXPECT_EQ(round(middle), all[i + i % 2]);
    EXPECT_EQ(round(middle, RoundMode::Away), all[i + 1]);
    EXPECT_EQ(round(-middle, RoundMode::Up), -all[i]);
    EXPECT_EQ(round(std::nextafter(middle, 7)), all[i + 1]);
  }
  EXPECT_EQ(round(7), 6);
  EXPECT_EQ(round(-kInfinity), -6);
  EXPECT_EQ(round(NAN), 0);
}

TEST(ElemConvert, ScalesArePowersOfTwo) {
  auto code = [](double x, RoundMode mode = RoundMode::Even) {
    return encodeFloat(x, ElemKind::F8E8M0, mode);
  };
  for (uint64_t bits = 0; bits < 255; ++bits) {
    double value = decodeFloat(bits, ElemKind::F8E8M0);
    EXPECT_EQ(value, std::ldexp(1.0, static_cast<int>(bits) - 127));
    EXPECT_EQ(code(value), bits);
    // In the middle the even code wins; beyond it the next one does.
    uint64_t next = std::min<uint64_t>(bits + 1, 254);
    EXPECT_EQ(code(1.5 * value), bits % 2 ? next : bits);
    EXPECT_EQ(code(std::nextafter(1.5 * value, kInfinity)), next);
    EXPECT_EQ(code(1.99 * value, RoundMode::Down), bits);
    EXPECT_EQ(code(1.01 * value, RoundMode::Up), next);
  }
  EXPECT_EQ(code(0), 0u);
  EXPECT_EQ(code(-0.0), 0u);
  EXPECT_EQ(code(1e-300), 0u);
  EXPECT_EQ(code(kInfinity), 254u);
  EXPECT_EQ(code(-1), 255u);
  EXPECT_EQ(code(NAN), 255u);
  EXPECT_TRUE(std::isnan(decodeFloat(255, ElemKind::F8E8M0)));
}

TEST(ElemConvert, IntegersRoundOnceToFloats) {
  // 2^24 + 1 plus a little: rounding by way of double must not lose the little.
  int64_t value = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(convertScalar(Scalar::integer(value), ElemKind::I64, ElemKind::F32).f,
            static_cast<double>(static_cast<float>(value)));
  EXPECT_EQ(convertScalar(Scalar::integer(-1), ElemKind::U64, ElemKind::F64).f, 0x1p64);
  EXPECT_EQ(convertScalar(Scalar::integer(-1), ElemKind::I64, ElemKind::F16).f, -1);
  EXPECT_EQ(convertScalar(Scalar::integer(70000), ElemKind::I32, ElemKind::F16).f, kInfinity);
  EXPECT_EQ(convertScalar(Scalar::integer(1000), ElemKind::I32, ElemKind::F8E4M3).f, 448);
}

TEST(ElemConvert, IntegerNarrowing) {
  auto convert = [](int64_t value, ElemKind from, ElemKind to, bool saturate) {
    return convertScalar(Scalar::integer(value), from, to, RoundMode::Even, saturate).i;
  };
  EXPECT_EQ(convert(300, ElemKind::I32, ElemKind::I8, false), 44);
  EXPECT_EQ(convert(300, ElemKind::I32, ElemKind::I8, true), 127);
  EXPECT_EQ(convert(-1, ElemKind::I32, ElemKind::U8, false), 255);
  EXPECT_EQ(convert(-1, ElemKind::I32, ElemKind::U8, true), 0);
  EXPECT_EQ(convert(-1, ElemKind::U64, ElemKind::I64, true), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert(9, ElemKind::I8, ElemKind::I4, false), -7);
  EXPECT_EQ(convert(5, ElemKind::I8, ElemKind::Bool, false), 1);
  EXPECT_EQ(convert(200, ElemKind::U8, ElemKind::I8, true), 127);
}

TEST(ElemConvert, MemoryKeepsValues) {
  for (const ElemInfo &info : elemInfos) {
    unsigned char memory[8];
    Scalar value = isFloat(info.kind)
                       ? Scalar::real(info.kind == ElemKind::F8E8M0 ? 0.25 : -1.5)
                       : Scalar::integer(isSigned(info.kind) ? -3 : largestInteger(info.kind));
    storeElem(memory, info.kind, value);
    Scalar loaded = loadElem(memory, info.kind);
    EXPECT_EQ(loaded.f, value.f) << info.name;
    EXPECT_EQ(loaded.i, value.i) << info.name;
  }
}

TEST(ElemConvert, Bitcast) {
  EXPECT_EQ(bitcastScalar(Scalar::real(1), ElemKind::F32, ElemKind::U32).i, 0x3f800000);
  EXPECT_EQ(bitcastScalar(Scalar::integer(0x3c00), ElemKind::I16, ElemKind::F16).f, 1);
}

} // namespace
} // namespace ptl
