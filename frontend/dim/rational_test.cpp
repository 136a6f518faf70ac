#include "frontend/dim/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace ptl {
namespace {

Rational parse(std::string_view text) { return *Rational::parse(text); }

TEST(Rational, arithmeticIsExact) {
  Rational third = Rational(1) / Rational(3);
  EXPECT_EQ((third + third + third).toInt64(), 1);
  EXPECT_EQ((parse("0.1") + parse("0.2")).compare(parse("0.3")), 0);
  EXPECT_EQ((Rational(7) / Rational(-2)).floor().toInt64(), -4);
  EXPECT_EQ((parse("1e30") / parse("1e29")).toInt64(), 10);
  EXPECT_EQ((Rational(-5) - Rational(-5)).toString(), "0");
}

TEST(Rational, wordsOverflowIntoDigits) {
  Rational word(INT64_MAX), big = word * word * word;
  EXPECT_EQ((big / word / word).toInt64(), INT64_MAX);
  EXPECT_EQ((big - big + Rational(1)).toInt64(), 1);
  EXPECT_EQ(big.toString(), "784637716923335095224261902710254454442933591094742482943");
  Natural edge = Natural(~uint64_t(0)) + Natural(1);
  EXPECT_EQ(edge.bitLength(), 65u);
  EXPECT_EQ((edge - Natural(1)).toUint64(), ~uint64_t(0));
  EXPECT_EQ(edge.shiftRight(64).toUint64(), 1u);
  EXPECT_EQ(Natural(3).shiftLeft(63).shiftRight(63).toUint64(), 3u);
  EXPECT_GT(edge.compare(Natural(~uint64_t(0))), 0);
  Natural rest;
  EXPECT_EQ((edge * edge + Natural(5)).divide(edge, &rest).compare(edge), 0);
  EXPECT_EQ(rest.toUint64(), 5u);
}

TEST(Rational, parsesLiterals) {
  EXPECT_EQ(parse("1_000").toInt64(), 1000);
  EXPECT_EQ(parse("0xff").toInt64(), 255);
  EXPECT_EQ(parse("1.50").toString(), "3/2");
  EXPECT_EQ(parse("25e-1").toString(), "5/2");
  EXPECT_EQ(parse("18446744073709551615").toUint64(), ~uint64_t(0));
  EXPECT_FALSE(parse("18446744073709551616").toUint64());
  EXPECT_EQ(parse("9223372036854775808").toInt64(), std::nullopt);
  EXPECT_EQ((-parse("9223372036854775808")).toInt64(), INT64_MIN);
  EXPECT_FALSE(Rational::parse("1e999999"));
}

TEST(Rational, roundsAsTheHardwareDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    int exponent = static_cast<int>(random() % 620) - 320;
    std::string text =
        std::to_string(random() % 1000000000000000000u) + "e" + std::to_string(exponent - 9);
    EXPECT_EQ(parse(text).toDouble(), std::strtod(text.c_str(), nullptr)) << text;
    float f = std::strtof(text.c_str(), nullptr);
    EXPECT_EQ(parse(text).toFloat(24, -126, 127), double(f)) << text;
  }
  EXPECT_EQ(parse("65520").toFloat(11, -14, 15), INFINITY);
  EXPECT_EQ(parse("65519").toFloat(11, -14, 15), 65504);
  EXPECT_EQ(parse("6e-8").toFloat(11, -14, 15), std::ldexp(1.0, -24));
}

} // namespace
} // namespace ptl
