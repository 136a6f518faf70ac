#include "codegen/cpu/elem_cast.h"
#include "codegen/cpu/test_jit.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace ptl::cpu;
using ptl::cpu::testing::MapKernel;
using ptl::cpu::testing::testContext;

namespace elem_cast_test {

// A small float format, decoded by the definition.
struct Format {
  Type type;
  int exponentBits, mantissaBits, bias;
  bool infinities;

  double decode(uint32_t code) const {
    uint32_t mantissa = code & ((1u << mantissaBits) - 1);
    uint32_t exponent = (code >> mantissaBits) & ((1u << exponentBits) - 1);
    double sign = (code >> (mantissaBits + exponentBits)) & 1 ? -1 : 1;
    uint32_t top = (1u << exponentBits) - 1;
    if (exponent == top && infinities)
      return mantissa ? NAN : sign * INFINITY;
    if (exponent == top && !infinities && mantissa == (1u << mantissaBits) - 1)
      return NAN;
    if (exponent == 0)
      return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
    return sign * std::ldexp(mantissa + (1 << mantissaBits), int(exponent) - bias - mantissaBits);
  }
  uint32_t codes() const { return 1u << (exponentBits + mantissaBits + 1); }
};

std::vector<Format> formats() {
  MLIRContext *c = &testContext();
  return {{Float16Type::get(c), 5, 10, 15, true},
          {BFloat16Type::get(c), 8, 7, 127, true},
          {Float8E4M3FNType::get(c), 4, 3, 7, false},
          {Float8E5M2Type::get(c), 5, 2, 15, true}};
}

template <typename Code> std::vector<float> decodeAll(const Format &format) {
  std::vector<Code> codes(std::max<uint32_t>(format.codes(), 16));
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<Code>(i);
  MapKernel kernel(testContext(), format.type, Float32Type::get(&testContext()), 16,
                   [](const Emit &, Value x, Value) { return x; });
  return kernel.operator()<Code, float>(codes);
}

template <typename Code, typename Source>
std::vector<Code> encode(const Format &format, const std::vector<Source> &values,
                         Rounding rounding = Rounding::Even) {
  Type source = sizeof(Source) == 8 ? Type(Float64Type::get(&testContext()))
                                    : Type(Float32Type::get(&testContext()));
  MapKernel kernel(testContext(), source, format.type, 16, [&](const Emit &e, Value x, Value) {
    return convertElem(e, x, source, format.type, rounding);
  });
  return kernel.operator()<Source, Code>(values);
}

/// `values` and the codes that they become, in groups of 16 that the kernel takes; what is missing of the last one is 0.
template <typename Code, typename Source>
void expectEncoded(const Format &format, std::vector<Source> values, std::vector<Code> expected,
                   Rounding rounding = Rounding::Even) {
  values.resize((values.size() + 15) / 16 * 16);
  expected.resize(values.size());
  auto found = encode<Code>(format, values, rounding);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(found[i], expected[i]) << values[i];
}

/// Calls `visit(code, low, middle, high)` for every two finite values that are neighbours and have no sign; `code` is that of the lower one.
template <typename Visit> void forNeighbours(const Format &format, Visit visit) {
  for (uint32_t code = 0; code + 1 < format.codes() / 2; ++code) {
    double low = format.decode(code), high = format.decode(code + 1);
    if (std::isfinite(low) && std::isfinite(high))
      visit(code, low, (low + high) / 2, high);
  }
}

template <typename Code> void checkFormat(const Format &format) {
  std::vector<float> decoded = decodeAll<Code>(format);
  for (uint32_t code = 0; code < format.codes(); ++code) {
    double expected = format.decode(code);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(decoded[code])) << code;
    else
      EXPECT_EQ(decoded[code], expected) << code;
  }
  // Halfway cases and their neighbours, between every two adjacent finite values, from f32 and f64.
  std::vector<float> narrow;
  std::vector<double> wide;
  std::vector<Code> narrowExpected, wideExpected;
  uint32_t half = format.codes() / 2;
  forNeighbours(format, [&](uint32_t code, double low, double middle, double high) {
    uint32_t even = code & 1 ? code + 1 : code;
    auto addBoth = [&](double value, uint32_t expected) {
      wide.push_back(value), wideExpected.push_back(Code(expected));
      wide.push_back(-value), wideExpected.push_back(Code(expected + half));
      if (static_cast<float>(value) == value) {
        narrow.push_back(float(value)), narrowExpected.push_back(Code(expected));
        narrow.push_back(float(-value)), narrowExpected.push_back(Code(expected + half));
      }
    };
    addBoth(low, code);
    addBoth(middle, even);
    addBoth(std::nextafter(middle, 0.0), code);
    addBoth(std::nextafter(middle, high), code + 1);
    addBoth(std::nextafter(float(middle), float(high)), code + 1);
  });
  expectEncoded(format, narrow, narrowExpected);
  expectEncoded(format, wide, wideExpected);
}

TEST(ElemCast, SmallFloatsRoundToNearestEven) {
  auto all = formats();
  checkFormat<uint16_t>(all[0]);
  checkFormat<uint16_t>(all[1]);
  checkFormat<uint8_t>(all[2]);
  checkFormat<uint8_t>(all[3]);
}

/// The code that a value between two neighbours becomes: of the lower or the upper magnitude.
bool goesOutwards(Rounding rounding, bool isNegative, bool isHalfOrMore) {
  switch (rounding) {
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return isNegative;
  case Rounding::Up:
    return !isNegative;
  default:
    return isHalfOrMore;
  }
}

template <typename Code> void checkDirection(const Format &format, Rounding rounding) {
  std::vector<float> narrow;
  std::vector<double> wide;
  std::vector<Code> narrowExpected, wideExpected;
  uint32_t half = format.codes() / 2;
  forNeighbours(format, [&](uint32_t code, double low, double middle, double high) {
    for (double size : {low, std::nextafter(low, high), std::nextafter(middle, low), middle,
                        std::nextafter(high, low)})
      for (bool isNegative : {false, true}) {
        bool outwards = size != low && goesOutwards(rounding, isNegative, size >= middle);
        auto expected = static_cast<Code>(code + outwards + (isNegative ? half : 0));
        double value = isNegative ? -size : size;
        wide.push_back(value), wideExpected.push_back(expected);
        if (static_cast<float>(value) == value)
          narrow.push_back(float(value)), narrowExpected.push_back(expected);
      }
  });
  expectEncoded(format, narrow, narrowExpected, rounding);
  expectEncoded(format, wide, wideExpected, rounding);
}

TEST(ElemCast, SmallFloatsRoundInDirections) {
  auto all = formats();
  for (Rounding rounding : {Rounding::Zero, Rounding::Down, Rounding::Up, Rounding::Away}) {
    checkDirection<uint16_t>(all[0], rounding);
    checkDirection<uint16_t>(all[1], rounding);
    checkDirection<uint8_t>(all[2], rounding);
    checkDirection<uint8_t>(all[3], rounding);
  }
}

TEST(ElemCast, DirectionsEndAtTheLastNumber) {
  std::vector<float> edges = {1e9f, -1e9f, INFINITY, NAN, 65504, 65505, 449, -449};
  edges.resize(16, 1.0f);
  auto all = formats();
  auto up = encode<uint16_t>(all[0], edges, Rounding::Up),
       zero = encode<uint16_t>(all[0], edges, Rounding::Zero);
  EXPECT_EQ(up[0], 0x7c00);
  EXPECT_EQ(up[1], 0xfbff);
  EXPECT_EQ(up[5], 0x7c00);
  EXPECT_EQ(zero[0], 0x7bff);
  EXPECT_EQ(zero[2], 0x7c00);
  EXPECT_GT(zero[3] & 0x7fff, 0x7c00);
  EXPECT_EQ(zero[4], 0x7bff);
  auto e4 = encode<uint8_t>(all[2], edges, Rounding::Up);
  EXPECT_EQ(e4[0], 0x7e);
  EXPECT_EQ(e4[6], 0x7e);
  EXPECT_EQ(e4[7], 0xfe);
}

TEST(ElemCast, EdgesOfSmallFloats) {
  std::vector<float> edges = {INFINITY, -INFINITY, NAN, 1e9f, -1e9f, 1e38f, 449, 65520, 0, -0.0f};
  edges.resize(16, 1.0f);
  auto all = formats();
  auto half = encode<uint16_t>(all[0], edges);
  EXPECT_EQ(half[0], 0x7c00);
  EXPECT_EQ(half[3], 0x7c00);
  EXPECT_EQ(half[7], 0x7c00);
  EXPECT_GT(half[2] & 0x7fff, 0x7c00);
  auto brain = encode<uint16_t>(all[1], edges);
  EXPECT_EQ(brain[1], 0xff80);
  EXPECT_GT(brain[2] & 0x7fff, 0x7f80);
  auto e4 = encode<uint8_t>(all[2], edges);
  EXPECT_EQ(e4[0], 0x7e);
  EXPECT_EQ(e4[1], 0xfe);
  EXPECT_EQ(e4[2] & 0x7f, 0x7f);
  EXPECT_EQ(e4[6], 0x7e);
  EXPECT_EQ(e4[9], 0x80);
  auto e5 = encode<uint8_t>(all[3], edges);
  EXPECT_EQ(e5[0], 0x7b);
  EXPECT_EQ(e5[5], 0x7b);
  EXPECT_GT(e5[2] & 0x7f, 0x7c);
}

template <typename Out>
std::vector<Out> toInteger(Rounding rounding, Type to, const std::vector<float> &x) {
  Type f32 = Float32Type::get(&testContext());
  MapKernel kernel(testContext(), f32, to, 16, [&](const Emit &e, Value v, Value) {
    return convertElem(e, v, f32, to, rounding);
  });
  return kernel.operator()<float, Out>(x);
}

TEST(ElemCast, FloatToIntegerRoundsAndSaturates) {
  MLIRContext *c = &testContext();
  std::vector<float> x = {2.5f,          3.5f,     -2.5f,      1.4f, -1.6f, 0.49999997f,
                          NAN,           INFINITY, -INFINITY,  300,  -300,  2147483648.0f,
                          4294967296.0f, -3e9f,    8388609.0f, 1e20f};
  auto even = toInteger<int32_t>(Rounding::Even, IntegerType::get(c, 32), x);
  EXPECT_EQ(even, (std::vector<int32_t>{2, 4, -2, 1, -2, 0, 0, INT32_MAX, INT32_MIN, 300, -300,
                                        INT32_MAX, INT32_MAX, INT32_MIN, 8388609, INT32_MAX}));
  auto away = toInteger<int32_t>(Rounding::Away, IntegerType::get(c, 32), x);
  EXPECT_EQ(std::vector<int32_t>(away.begin(), away.begin() + 6),
            (std::vector<int32_t>{3, 4, -3, 1, -2, 0}));
  EXPECT_EQ(away[14], 8388609);
  auto down = toInteger<int64_t>(Rounding::Down, IndexType::get(c), x);
  EXPECT_EQ(down[2], -3);
  EXPECT_EQ(down[15], INT64_MAX);
  auto byte = toInteger<int8_t>(Rounding::Zero, IntegerType::get(c, 8), x);
  EXPECT_EQ(byte[9], 127);
  EXPECT_EQ(byte[10], -128);
  auto unsignedByte =
      toInteger<uint8_t>(Rounding::Up, IntegerType::get(c, 8, IntegerType::Unsigned), x);
  EXPECT_EQ(unsignedByte[3], 2);
  EXPECT_EQ(unsignedByte[4], 0);
  EXPECT_EQ(unsignedByte[9], 255);
  auto word =
      toInteger<uint32_t>(Rounding::Zero, IntegerType::get(c, 32, IntegerType::Unsigned), x);
  EXPECT_EQ(word[11], 2147483648u);
  EXPECT_EQ(word[12], UINT32_MAX);
}

template <typename In, typename Out>
std::vector<Out> convertIntegers(Type from, Type to, bool saturate, std::vector<In> x) {
  x.resize(16);
  MapKernel kernel(testContext(), from, to, 16, [&](const Emit &e, Value v, Value) {
    return convertElem(e, v, from, to, Rounding::Even, saturate);
  });
  return kernel.operator()<In, Out>(x);
}

TEST(ElemCast, IntegersWrapOrSaturate) {
  MLIRContext *c = &testContext();
  Type i8 = IntegerType::get(c, 8), i32 = IntegerType::get(c, 32), i64 = IntegerType::get(c, 64);
  Type u8 = IntegerType::get(c, 8, IntegerType::Unsigned),
       u64 = IntegerType::get(c, 64, IntegerType::Unsigned);
  auto wrapped = convertIntegers<int32_t, int8_t>(i32, i8, false, {300, -129, 5});
  EXPECT_EQ(wrapped[0], 44);
  EXPECT_EQ(wrapped[1], 127);
  auto limited = convertIntegers<int32_t, int8_t>(i32, i8, true, {300, -129, 5});
  EXPECT_EQ(limited[0], 127);
  EXPECT_EQ(limited[1], -128);
  EXPECT_EQ(limited[2], 5);
  auto unsignedLimited = convertIntegers<int32_t, uint8_t>(i32, u8, true, {300, -129, 5});
  EXPECT_EQ(unsignedLimited[0], 255);
  EXPECT_EQ(unsignedLimited[1], 0);
  auto fromUnsigned = convertIntegers<uint64_t, int64_t>(u64, i64, true, {UINT64_MAX, 7});
  EXPECT_EQ(fromUnsigned[0], INT64_MAX);
  EXPECT_EQ(fromUnsigned[1], 7);
  auto widened = convertIntegers<uint8_t, int32_t>(u8, i32, false, {200});
  EXPECT_EQ(widened[0], 200);
  auto truth = convertIntegers<int32_t, uint8_t>(i32, IntegerType::get(c, 1), false, {0, 2, -1});
  EXPECT_EQ(truth[0], 0);
  EXPECT_EQ(truth[1], 1);
  EXPECT_EQ(truth[2], 1);
  auto half =
      convertIntegers<int32_t, uint16_t>(i32, Float16Type::get(c), false, {2049, 65519, 65520});
  EXPECT_EQ(half[0], 0x6800);
  EXPECT_EQ(half[1], 0x7bff);
  EXPECT_EQ(half[2], 0x7c00);
}

template <typename Out>
std::vector<Out> fromLongs(Type from, Type to, Rounding rounding, std::vector<int64_t> x) {
  x.resize(16);
  MapKernel kernel(testContext(), from, to, 16, [&](const Emit &e, Value v, Value) {
    return convertElem(e, v, from, to, rounding);
  });
  return kernel.operator()<int64_t, Out>(x);
}

TEST(ElemCast, LongIntegersRoundOnce) {
  MLIRContext *c = &testContext();
  Type i64 = IntegerType::get(c, 64), u64 = IntegerType::get(c, 64, IntegerType::Unsigned);
  Type bf16 = BFloat16Type::get(c), f32 = Float32Type::get(c), f64 = Float64Type::get(c);
  // Halves of steps of bf16 that f64 would round to just these halves.
  int64_t half = (int64_t(1) << 62) + (int64_t(1) << 54);
  auto even = fromLongs<uint16_t>(i64, bf16, Rounding::Even, {half, half + 1, half - 1, -half - 1});
  EXPECT_EQ(even[0], 0x5e80);
  EXPECT_EQ(even[1], 0x5e81);
  EXPECT_EQ(even[2], 0x5e80);
  EXPECT_EQ(even[3], 0xde81);
  int64_t exact = int64_t(1) << 54;
  auto up = fromLongs<float>(i64, f32, Rounding::Up, {exact + 1, -exact - 1, exact, INT64_MAX});
  EXPECT_EQ(up[0], 0x1p54f + 0x1p31f);
  EXPECT_EQ(up[1], -0x1p54f);
  EXPECT_EQ(up[2], 0x1p54f);
  EXPECT_EQ(up[3], 0x1p63f);
  auto zero = fromLongs<double>(u64, f64, Rounding::Zero, {-1, exact + 3, 0});
  EXPECT_EQ(zero[0], 0x1.fffffffffffffp63);
  EXPECT_EQ(zero[1], 0x1p54);
  EXPECT_EQ(zero[2], 0);
  auto away = fromLongs<double>(i64, f64, Rounding::Away, {exact + 2, exact + 1, -exact - 2});
  EXPECT_EQ(away[0], 0x1p54 + 4);
  EXPECT_EQ(away[1], 0x1p54);
  EXPECT_EQ(away[2], -0x1p54 - 4);
}

} // namespace elem_cast_test
