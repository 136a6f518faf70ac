// Scans by vectors and by rows, folds of wide tiles of columns, and elementwise rows that are one: all give what single elements do.
#include "codegen/cpu/test_program.h"

#include <cmath>
#include <limits>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace lower_scan_test {

/// A grid over tiles of columns (`t0.1` wide) or of rows (`t0.0` high) of the array `x`, whose body makes `%r` of the tile `%t`.
std::string tiles(const std::string &elem, bool ofColumns, const std::string &body,
                  const std::string &resultRows = "R", const std::string &columnName = "t0.1") {
  auto array = [&](const std::string &shape) { return "!ptl.array<" + elem + "[" + shape + "]"; };
  std::string shape = ofColumns ? "R, " + columnName : "t0.0, C";
  std::string result = ofColumns ? resultRows + ", " + columnName : "t0.0, C";
  std::string ref = "!ptl.ref<" + elem + "[" + resultRows + ", C], gm>";
  std::string at = ofColumns ? "[%c0, %i]" : "[%i, %c0]";
  std::string lengths = ofColumns ? "[%R, %len]" : "[%len, %C]";
  std::string stored = ofColumns ? (resultRows == "1" ? "[%c1, %len]" : "[%R, %len]") : lengths;
  return "!t = " + array(shape) + ">\n!r = " + array(result) + ">\n" +
         "func.func @f(%x: " + array("R, C") + ", gm> {ptl.name = \"x\"}, %y: " + ref +
         " {ptl.output = \"y\"}, %R: index, %C: index) attributes {ptl.kind = \"program\"} {\n"
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
         "  %step = arith.constant 5 : index\n  ptl.parallel (%i) = (%c0) to (" +
         (ofColumns ? "%C" : "%R") + ") step (%step) {\n    %rest = arith.subi " +
         (ofColumns ? "%C" : "%R") +
         ", %i : index\n    %len = arith.minsi %rest, %step : index\n    %t = ptl.slice %x" + at +
         lengths + " drop [] : " + array("R, C") + ", gm> -> !t\n" + body + "    ptl.store %r, %y" +
         at + stored + " drop [] : !r, " + ref + "\n  }\n  return\n}\n";
}

std::string scan(const std::string &name, int axis) {
  return "    %r = \"ptl." + name + "\"(%t) {axis = " + std::to_string(axis) +
         " : i64} : (!t) -> !r\n";
}

const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 33, 64, 65, 515, 1031};

template <typename T> std::vector<T> numbers(int64_t count, bool special) {
  std::vector<T> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(static_cast<int64_t>(i * 37 % 19) - 9);
    if (std::is_floating_point_v<T> && special) {
      if (i % 97 == 41)
        x[i] = std::numeric_limits<T>::infinity();
      if (i % 193 == 77)
        x[i] = std::numeric_limits<T>::quiet_NaN();
      if (i % 31 == 3)
        x[i] = static_cast<T>(-0.0);
    }
  }
  return x;
}

/// Whole numbers are exact however they are added, so every difference counts.
template <typename T> void compareSums(PtlElem code, const std::string &elem, int axis) {
  for (bool ofColumns : {false, true}) {
    if (ofColumns == (axis == 1)) // the axis is whole in each tile
      continue;
    Program program(tiles(elem, ofColumns, scan("cumsum", axis)));
    for (int64_t rows : lengths)
      for (int64_t columns : lengths)
        for (int64_t from : {int64_t(0), int64_t(1) << 60})
          for (size_t shift : {0, 1, 5}) {
            if (rows * columns > 40000)
              continue;
            std::vector<T> x = numbers<T>(rows * columns, true);
            std::vector<T> y(x.size() + 64, T(3)), expected = x;
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < columns; ++c)
                if (int64_t before = axis == 0 ? r : c; before > 0) {
                  auto at = static_cast<size_t>(r * columns + c);
                  size_t last = at - static_cast<size_t>(axis == 0 ? columns : 1);
                  expected[at] = static_cast<T>(expected[last] + x[at]);
                }
            program.streamedFrom = from;
            ASSERT_EQ(program({Array(code, x.data(), {rows, columns}),
                               Array(code, y.data() + shift, {rows, columns})},
                              {rows, columns}),
                      0);
            for (size_t i = 0; i < y.size(); ++i) {
              bool inside = i >= shift && i - shift < expected.size();
              T want = inside ? expected[i - shift] : T(3);
              // Only a NaN differs from itself.
              bool bothNan = want != want && y[i] != y[i]; // NOLINT(misc-redundant-expression)
              ASSERT_TRUE(bothNan || want == y[i])
                  << elem << ' ' << rows << " x " << columns << " along " << axis << " at " << i
                  << ": " << +y[i] << ", not " << +want;
            }
          }
  }
}

TEST(Lowering, ScansAlongRowsAndColumns) {
  for (int axis : {0, 1}) {
    compareSums<float>(PTL_F32, "f32", axis);
    compareSums<double>(PTL_F64, "f64", axis);
    compareSums<int32_t>(PTL_I32, "i32", axis);
    compareSums<int64_t>(PTL_I64, "i64", axis);
    compareSums<int8_t>(PTL_I8, "i8", axis);
    compareSums<uint16_t>(PTL_U16, "ui16", axis);
  }
}

TEST(Lowering, RunningProductsOfRows) {
  Program program(tiles("f64", false, scan("cumprod", 1)));
  for (int64_t columns : lengths) {
    std::vector<double> x(static_cast<size_t>(2 * columns)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = i % 3 == 0 ? 2.0 : i % 3 == 1 ? -0.5 : 1.0; // exact in any order
    ASSERT_EQ(
        program({Array(PTL_F64, x.data(), {2, columns}), Array(PTL_F64, y.data(), {2, columns})},
                {2, columns}),
        0);
    for (int64_t r = 0; r < 2; ++r) {
      double product = 1;
      for (int64_t c = 0; c < columns; ++c) {
        auto at = static_cast<size_t>(r * columns + c);
        ASSERT_EQ(y[at], product *= x[at]) << columns << " at " << c;
      }
    }
  }
}

bool asksForThreads(const std::string &text) {
  auto blocks = blocksOf(text);
  return blocks && blocks->lookupSymbol("ptl_rt_thread_count");
}

const std::string kSum = "    %r = \"ptl.reduce_sum\"(%t) {axes = array<i64: 0>} : (!t) -> !r\n";

TEST(Lowering, TilesOfColumnsGrow) {
  EXPECT_TRUE(asksForThreads(tiles("f32", true, kSum, "1")));
  EXPECT_TRUE(asksForThreads(tiles("f32", true, scan("cumsum", 0))));
  // The author's tiles have names of the source, and stay.
  EXPECT_FALSE(asksForThreads(tiles("f32", true, kSum, "1", "j")));
  // Tiles that are gone through a second time may still be in a cache then.
  std::string twice = "    %s = \"ptl.cumsum\"(%t) {axis = 0 : i64} : (!t) -> !r\n"
                      "    %r = \"ptl.add\"(%s, %t) : (!r, !t) -> !r\n";
  EXPECT_FALSE(asksForThreads(tiles("f32", true, twice)));
  EXPECT_FALSE(asksForThreads(tiles("f32", false, scan("cumsum", 1))));
}

TEST(Lowering, SumsOfWideTilesOfColumns) {
  Program program(tiles("f32", true, kSum, "1"));
  for (int64_t rows : lengths)
    for (int64_t columns : {0, 1, 63, 64, 65, 5000, 40000}) {
      if (rows * columns > 400000)
        continue;
      std::vector<float> x = numbers<float>(rows * columns, false);
      std::vector<float> y(static_cast<size_t>(columns) + 1, 3.0f);
      ASSERT_EQ(program({array(x, {rows, columns}), Array(PTL_F32, y.data(), {1, columns})},
                        {rows, columns}),
                0);
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (int64_t r = 0; r < rows; ++r)
          sum += x[static_cast<size_t>(r * columns + c)];
        ASSERT_EQ(y[static_cast<size_t>(c)], sum) << rows << " x " << columns << " at " << c;
      }
      EXPECT_EQ(y.back(), 3.0f);
    }
}

// What is read has gaps between its rows, or none: the values are the same.
TEST(Lowering, RowsThatFollowEachOther) {
  std::string body = "    %r = \"ptl.add\"(%t, %t) : (!t, !t) -> !r\n";
  std::string text = tiles("f32", false, body), name = "ptl.name = \"x\"";
  text.insert(text.find(name) + name.size(), ", ptl.strides = \"rows\"");
  Program program(text);
  for (int64_t rows : {0, 1, 2, 5, 6, 11})
    for (int64_t columns : lengths)
      for (int64_t gap : {0, 3})
        for (int64_t from : {int64_t(0), int64_t(1) << 60}) {
          int64_t stride = columns + gap;
          std::vector<float> x = numbers<float>(rows * stride + 1, true);
          std::vector<float> y(static_cast<size_t>(rows * columns) + 16, 3.0f);
          Array from_x(PTL_F32, x.data(), {rows, columns});
          from_x.view.strides[0] = stride;
          program.streamedFrom = from;
          ASSERT_EQ(program({from_x, Array(PTL_F32, y.data(), {rows, columns})}, {rows, columns}),
                    0);
          for (int64_t i = 0; i < rows * columns; ++i) {
            float value = x[static_cast<size_t>(i / columns * stride + i % columns)];
            float got = y[static_cast<size_t>(i)];
            ASSERT_TRUE(got == value + value || (got != got && value != value))
                << rows << " x " << columns << " gap " << gap << " at " << i;
            if (value == 0)
              ASSERT_EQ(std::signbit(got), std::signbit(value));
          }
          for (size_t i = static_cast<size_t>(rows * columns); i < y.size(); ++i)
            ASSERT_EQ(y[i], 3.0f);
        }
}

} // namespace lower_scan_test
