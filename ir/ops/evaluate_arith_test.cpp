#include "ir/ops/evaluate_arith.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace ptl {
namespace {

std::optional<int64_t> integer(ArithOp op, ElemKind type, int64_t a, int64_t b = 0,
                               uint8_t predicate = 0) {
  Scalar operands[] = {Scalar::integer(a), Scalar::integer(b)};
  std::optional<Scalar> value =
      evaluate({op, type, type, predicate}, std::span(operands).first(operandCount(op)));
  return value ? std::optional(value->i) : std::nullopt;
}
std::optional<int64_t> cast(ArithOp op, ElemKind from, ElemKind to, Scalar value) {
  std::optional<Scalar> result = evaluate({op, to, from, 0}, {&value, 1});
  return result ? std::optional(result->i) : std::nullopt;
}
double real(ArithOp op, ElemKind type, double a, double b = 0) {
  Scalar operands[] = {Scalar::real(a), Scalar::real(b)};
  return evaluate({op, type, type, 0}, std::span(operands).first(operandCount(op)))->f;
}

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
const double kNan = std::nan("");

TEST(ArithOp, NamesLeadToRows) {
  EXPECT_EQ(findArithOp("arith.addi"), ArithOp::AddI);
  EXPECT_EQ(findArithOp("math.ceil"), ArithOp::CeilF);
  EXPECT_EQ(findArithOp("builtin.unrealized_conversion_cast"), ArithOp::UnrealizedCast);
  EXPECT_EQ(findArithOp("arith.add"), std::nullopt);
  EXPECT_EQ(findArithOp(""), std::nullopt);
}

TEST(ArithOp, IntegersWrap) {
  EXPECT_EQ(integer(ArithOp::AddI, ElemKind::I8, 127, 1), -128);
  EXPECT_EQ(integer(ArithOp::SubI, ElemKind::I32, -0x80000000LL, 1), 0x7fffffff);
  EXPECT_EQ(integer(ArithOp::MulI, ElemKind::I64, kSmallest, -1), kSmallest);
  EXPECT_EQ(integer(ArithOp::AbsI, ElemKind::I16, -0x8000), -0x8000);
  EXPECT_EQ(integer(ArithOp::XorI, ElemKind::Bool, 1, 1), 0);
}

TEST(ArithOp, DivisionsRoundAsTheyAreNamed) {
  EXPECT_EQ(integer(ArithOp::DivSI, ElemKind::I32, -7, 2), -3);
  EXPECT_EQ(integer(ArithOp::FloorDivSI, ElemKind::I32, -7, 2), -4);
  EXPECT_EQ(integer(ArithOp::CeilDivSI, ElemKind::I32, 7, 2), 4);
  EXPECT_EQ(integer(ArithOp::CeilDivSI, ElemKind::I32, -7, 2), -3);
  EXPECT_EQ(integer(ArithOp::RemSI, ElemKind::I32, -7, 2), -1);
  EXPECT_EQ(integer(ArithOp::DivUI, ElemKind::I8, -1, 2), 127);
  EXPECT_EQ(integer(ArithOp::CeilDivUI, ElemKind::I8, -1, 2), -128);
}

TEST(ArithOp, TheSmallestNumberByMinusOneWraps) {
  EXPECT_EQ(integer(ArithOp::DivSI, ElemKind::I64, kSmallest, -1), kSmallest);
  EXPECT_EQ(integer(ArithOp::FloorDivSI, ElemKind::I64, kSmallest, -1), kSmallest);
  EXPECT_EQ(integer(ArithOp::CeilDivSI, ElemKind::I64, kSmallest, -1), kSmallest);
  EXPECT_EQ(integer(ArithOp::RemSI, ElemKind::I64, kSmallest, -1), 0);
}

TEST(ArithOp, NothingIsDividedByZero) {
  for (ArithOp op : {ArithOp::DivSI, ArithOp::DivUI, ArithOp::RemSI, ArithOp::RemUI,
                     ArithOp::CeilDivSI, ArithOp::CeilDivUI, ArithOp::FloorDivSI})
    EXPECT_EQ(integer(op, ElemKind::I32, 1, 0), std::nullopt);
  EXPECT_TRUE(std::isinf(real(ArithOp::DivF, ElemKind::F32, 1, 0)));
}

TEST(ArithOp, ShiftsByTheWidthLeaveTheSign) {
  EXPECT_EQ(integer(ArithOp::ShlI, ElemKind::I32, 1, 32), 0);
  EXPECT_EQ(integer(ArithOp::ShlI, ElemKind::I64, 1, -1), 0);
  EXPECT_EQ(integer(ArithOp::ShrSI, ElemKind::I32, -5, 40), -1);
  EXPECT_EQ(integer(ArithOp::ShrUI, ElemKind::I32, -5, 40), 0);
  EXPECT_EQ(integer(ArithOp::ShrUI, ElemKind::I32, -1, 28), 15);
}

TEST(ArithOp, PredicatesSayWhetherThereIsASign) {
  EXPECT_EQ(integer(ArithOp::CmpI, ElemKind::I32, -1, 1, 2), 1); // slt
  EXPECT_EQ(integer(ArithOp::CmpI, ElemKind::I32, -1, 1, 6), 0); // ult
  EXPECT_EQ(integer(ArithOp::MinSI, ElemKind::I32, -1, 1), -1);
  EXPECT_EQ(integer(ArithOp::MinUI, ElemKind::I32, -1, 1), 1);
}

TEST(ArithOp, FloatsAreRoundedOnce) {
  EXPECT_EQ(real(ArithOp::AddF, ElemKind::F16, 2048, 1), 2048);
  EXPECT_EQ(real(ArithOp::AddF, ElemKind::F16, 2048, 3), 2052);
  EXPECT_EQ(real(ArithOp::MulF, ElemKind::F32, 16777217, 1), 16777216);
  EXPECT_EQ(real(ArithOp::RemF, ElemKind::F32, -7, 2), -1);
}

TEST(ArithOp, IntegersBecomeFloatsInOneRounding) {
  auto converted = [](ArithOp op, ElemKind from, ElemKind to, int64_t number) {
    Scalar value = Scalar::integer(number);
    return evaluate({op, to, from, 0}, {&value, 1})->f;
  };
  // Half of a step of f32 and a little more, which f64 would round to the half.
  int64_t beyondHalf = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  EXPECT_EQ(converted(ArithOp::SIToFP, ElemKind::I64, ElemKind::F32, beyondHalf), 0x1p60 + 0x1p37);
  EXPECT_EQ(converted(ArithOp::SIToFP, ElemKind::I64, ElemKind::F32, -beyondHalf),
            -0x1p60 - 0x1p37);
  EXPECT_EQ(converted(ArithOp::UIToFP, ElemKind::I8, ElemKind::F32, -1), 255);
  EXPECT_EQ(converted(ArithOp::UIToFP, ElemKind::I64, ElemKind::F64, -1), 0x1p64);
}

TEST(ArithOp, NanIsKeptOrLeftOut) {
  EXPECT_TRUE(std::isnan(real(ArithOp::MaximumF, ElemKind::F32, kNan, 1)));
  EXPECT_TRUE(std::isnan(real(ArithOp::MinimumF, ElemKind::F32, 1, kNan)));
  EXPECT_EQ(real(ArithOp::MaxNumF, ElemKind::F32, kNan, 1), 1);
  EXPECT_EQ(real(ArithOp::MinNumF, ElemKind::F32, 1, kNan), 1);
}

TEST(ArithOp, ConversionsSaturateOrWrap) {
  EXPECT_EQ(cast(ArithOp::FPToSI, ElemKind::F32, ElemKind::I8, Scalar::real(-1.75)), -1);
  EXPECT_EQ(cast(ArithOp::FPToSI, ElemKind::F32, ElemKind::I8, Scalar::real(1e9)), 127);
  EXPECT_EQ(cast(ArithOp::FPToSI, ElemKind::F32, ElemKind::I32, Scalar::real(kNan)), 0);
  // The types have no sign, the operation has none either: 200 is a byte that reads as -56.
  EXPECT_EQ(cast(ArithOp::FPToUI, ElemKind::F32, ElemKind::I8, Scalar::real(200.5)), -56);
  EXPECT_EQ(cast(ArithOp::FPToUI, ElemKind::F32, ElemKind::I8, Scalar::real(1e9)), -1);
  EXPECT_EQ(cast(ArithOp::FPToUI, ElemKind::F32, ElemKind::I32, Scalar::real(-1)), 0);
  EXPECT_EQ(cast(ArithOp::FPToUI, ElemKind::F64, ElemKind::I64, Scalar::real(0x1p63)), kSmallest);
  EXPECT_EQ(cast(ArithOp::TruncI, ElemKind::I32, ElemKind::I8, Scalar::integer(0x180)), -128);
  EXPECT_EQ(cast(ArithOp::ExtUI, ElemKind::I8, ElemKind::I32, Scalar::integer(-1)), 255);
  EXPECT_EQ(cast(ArithOp::ExtSI, ElemKind::Bool, ElemKind::I32, Scalar::integer(1)), -1);
  EXPECT_EQ(cast(ArithOp::Bitcast, ElemKind::F32, ElemKind::I32, Scalar::real(1)), 0x3f800000);
}

} // namespace
} // namespace ptl
