#include "frontend/sema/const_value.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

Rational parse(std::string_view text) { return *Rational::parse(text); }

TEST(ConstValue, convertsAndChecksRange) {
  ConstValue value;
  value.number = Rational(300);
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::I8}).fits);
  EXPECT_TRUE(convertConst(value, Elem{ElemKind::I16}).fits);
  value.number = Rational(255);
  EXPECT_TRUE(convertConst(value, Elem{ElemKind::U8}).fits);
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::Bool}).fits);
  value.number = Rational(-1);
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::U64}).fits);
  value.number = parse("0.1");
  EXPECT_EQ(convertConst(value, Elem{ElemKind::F32}).floatValue, double(0.1f));
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::I32}).fits);
  value.kind = ConstKind::MinusInf;
  EXPECT_TRUE(convertConst(value, Elem{ElemKind::F16}).fits);
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::I32}).fits);
}

TEST(ConstValue, roundsOnceInAnyDirection) {
  ConstValue value;
  auto as = [&](ElemKind kind, RoundMode mode) {
    return convertConst(value, Elem{kind}, mode).floatValue;
  };
  value.number = parse("1.001");
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Up), 1.0078125);
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Away), 1.0);
  value.number = -parse("1.001");
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Up), -1.0);
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Down), -1.0078125);
  value.number = parse("1.00390625"); // half of a step
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Even), 1.0);
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Away), 1.0078125);
  EXPECT_EQ(as(ElemKind::BF16, RoundMode::Zero), 1.0);
  // The nearest `f32` lies above, so that a second rounding would start from there.
  value.number = parse("0.1");
  EXPECT_EQ(as(ElemKind::F32, RoundMode::Down), 0x1.999998p-4);
  EXPECT_EQ(as(ElemKind::F32, RoundMode::Up), 0x1.99999ap-4);
  value.number = Rational(1);
  EXPECT_EQ(as(ElemKind::F16, RoundMode::Up), 1.0);
  value.number = parse("65519");
  EXPECT_EQ(as(ElemKind::F16, RoundMode::Zero), 65504);
  EXPECT_FALSE(convertConst(value, Elem{ElemKind::F16}, RoundMode::Up).fits);
}

TEST(ConstValue, prints) {
  ConstValue value;
  value.number = parse("0.125");
  EXPECT_EQ(toString(value), "0.125");
  value.number = Rational(-1) / Rational(3);
  EXPECT_EQ(toString(value), "-1/3");
  value.number = Rational(2);
  value.isFloat = true;
  EXPECT_EQ(toString(value), "2.0");
}

} // namespace
} // namespace ptl
