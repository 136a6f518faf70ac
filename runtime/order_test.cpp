#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace ptl::rt;

namespace {

template <typename T> bool isNan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  return false;
}

/// The order as the language states it, by a stable sort of positions.
template <typename T> std::vector<int32_t> stated(const std::vector<T> &row, bool descending) {
  std::vector<int32_t> positions(row.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [&](int32_t i, int32_t j) {
    T x = row[i], y = row[j];
    if (isNan(x) || isNan(y))
      return !isNan(x) && isNan(y);
    return descending ? y < x : x < y;
  });
  return positions;
}

template <typename T>
void expectOrder(const std::vector<T> &row, int32_t elem, bool descending, int64_t count) {
  ThreadPool pool(1);
  PtlContext context(pool);
  std::vector<T> values(row.size());
  std::vector<int32_t> positions(row.size(), -1);
  auto length = static_cast<int64_t>(row.size());
  ptl_rt_order(&context, row.data(), length, elem, descending, count, values.data(),
               positions.data());
  std::vector<int32_t> expected = stated(row, descending);
  int64_t given = std::min(count, length);
  for (int64_t i = 0; i < given; ++i) {
    ASSERT_EQ(positions[i], expected[i]) << "place " << i << " of " << count << " of " << length;
    // Bits, so that the sign of a zero and the bits of a NaN stay.
    const void *value = &values[i], *wanted = &row[expected[i]];
    ASSERT_EQ(std::memcmp(value, wanted, sizeof(T)), 0);
  }
  for (int64_t i = given; i < length; ++i)
    ASSERT_EQ(positions[i], -1) << "written beyond the count";
  // Without positions the keys are sorted alone.
  std::vector<T> alone(row.size(), T(3)), untouched(row.size(), T(3));
  ptl_rt_order(&context, row.data(), length, elem, descending, count, alone.data(), nullptr);
  auto bytes = static_cast<size_t>(given) * sizeof(T);
  ASSERT_EQ(std::memcmp(alone.data(), values.data(), bytes), 0) << count << " of " << length;
  ASSERT_EQ(std::memcmp(alone.data() + given, untouched.data(), row.size() * sizeof(T) - bytes), 0)
      << "written beyond the count";
}

template <typename T> void expectOrders(int32_t elem, std::vector<T> special) {
  std::mt19937 random(7);
  for (int64_t length :
       {0, 1, 2, 7, 8, 9, 16, 17, 31, 33, 47, 48, 64, 100, 128, 129, 511, 513, 2047, 5000})
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<T> row(length);
      for (T &x : row) {
        auto bits = static_cast<uint64_t>(random()) << 32 | random();
        if (kind == 0)
          std::memcpy(&x, &bits, sizeof x); // any bits
        else if (kind == 1 || special.empty())
          x = static_cast<T>(bits % 5); // many equal ones
        else
          x = special[bits % special.size()];
      }
      if constexpr (std::is_same_v<T, uint8_t>)
        if (elem == PTL_BOOL)
          for (T &x : row)
            x &= 1;
      for (bool descending : {false, true})
        for (int64_t count : {int64_t(1), int64_t(7), int64_t(40), length / 9, length})
          expectOrder(row, elem, descending, count);
    }
}

TEST(Order, IsThatOfAStableSort) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  expectOrders<float>(PTL_F32, {0.0f, -0.0f, 1.0f, -1.0f, infinity, -infinity, NAN, -NAN, 1e-45f});
  expectOrders<double>(PTL_F64, {0.0, -0.0, 2.0, -2.0, infinity, -infinity, NAN});
  expectOrders<int32_t>(PTL_I32, {INT32_MIN, INT32_MAX, 0, -1});
  expectOrders<int64_t>(PTL_I64, {INT64_MIN, INT64_MAX, 0, -1});
  expectOrders<int64_t>(PTL_INT, {});
  expectOrders<uint32_t>(PTL_U32, {0, UINT32_MAX});
  expectOrders<uint64_t>(PTL_U64, {0, UINT64_MAX});
  expectOrders<int16_t>(PTL_I16, {INT16_MIN, INT16_MAX});
  expectOrders<uint16_t>(PTL_U16, {});
  expectOrders<int8_t>(PTL_I8, {INT8_MIN, INT8_MAX});
  expectOrders<uint8_t>(PTL_U8, {});
  expectOrders<uint8_t>(PTL_BOOL, {});
}

/// All values of a short float, whose numbers a function decodes.
template <typename Bits, typename Decode> void expectAllBits(int32_t elem, Decode decode) {
  std::vector<Bits> row;
  for (uint32_t bits = 0; bits < (1u << (8 * sizeof(Bits))); bits += sizeof(Bits) == 2 ? 7 : 1)
    row.push_back(static_cast<Bits>(bits));
  std::shuffle(row.begin(), row.end(), std::mt19937(3));
  std::vector<double> numbers;
  for (Bits bits : row)
    numbers.push_back(decode(bits));
  ThreadPool pool(1);
  PtlContext context(pool);
  for (bool descending : {false, true}) {
    std::vector<int32_t> positions(row.size());
    auto length = static_cast<int64_t>(row.size());
    ptl_rt_order(&context, row.data(), length, elem, descending, length, nullptr, positions.data());
    EXPECT_EQ(positions, stated(numbers, descending)) << elem;
    std::vector<Bits> values(row.size()), expected;
    ptl_rt_order(&context, row.data(), length, elem, descending, length, values.data(), nullptr);
    for (int32_t position : positions)
      expected.push_back(row[position]);
    EXPECT_EQ(values, expected) << elem;
  }
}

double decodeBits(uint32_t bits, int exponentBits, int mantissaBits, bool hasInfinity) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  uint32_t exponent = bits >> mantissaBits & ((1u << exponentBits) - 1),
           all = (1u << exponentBits) - 1;
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  if (exponent == all && (hasInfinity || mantissa == (1u << mantissaBits) - 1))
    return mantissa == 0 && hasInfinity ? sign * INFINITY : NAN;
  double fraction = std::ldexp(mantissa, -mantissaBits) + (exponent ? 1 : 0);
  return sign * std::ldexp(fraction, int(exponent ? exponent : 1) - bias);
}

TEST(Order, KnowsShortFloats) {
  expectAllBits<uint16_t>(PTL_F16, [](uint32_t x) { return decodeBits(x, 5, 10, true); });
  expectAllBits<uint16_t>(PTL_BF16, [](uint32_t x) { return decodeBits(x, 8, 7, true); });
  expectAllBits<uint8_t>(PTL_F8E5M2, [](uint32_t x) { return decodeBits(x, 5, 2, true); });
  expectAllBits<uint8_t>(PTL_F8E4M3, [](uint32_t x) { return decodeBits(x, 4, 3, false); });
}

} // namespace
