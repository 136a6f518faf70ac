#include "codegen/reference/scalar_ops.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

namespace ptl::reference {
namespace {

int64_t integer(OpId op, ElemKind elem, int64_t a, int64_t b) {
  Scalar args[] = {Scalar::integer(a), Scalar::integer(b)};
  Scalar result;
  EXPECT_EQ(evalScalar(op, elem, args, result), EvalStatus::Ok);
  return result.i;
}

double real(OpId op, std::initializer_list<double> values, ElemKind elem = ElemKind::F64) {
  std::vector<Scalar> args;
  for (double value : values)
    args.push_back(Scalar::real(value));
  Scalar result;
  EXPECT_EQ(evalScalar(op, elem, args, result), EvalStatus::Ok);
  return result.f;
}

/// Every elementwise record has a function for every element type that its signatures admit.
TEST(ScalarOps, EveryRecordIsKnown) {
  for (const OpRecord &op : allOps()) {
    if (!isScalarOp(op.id))
      continue;
    for (const ElemInfo &elem : elemInfos)
      for (const Signature &signature : op.signatures) {
        bool isLegal = signature.elemVars.empty()
                           ? elem.kind == ElemKind::Bool
                           : satisfies(elem.kind, signature.elemVars[0].constraint);
        if (!isLegal)
          continue;
        std::vector<Scalar> args(signature.operands.size(), Scalar{1, 1});
        Scalar result;
        EXPECT_EQ(evalScalar(op.id, elem.kind, args, result), EvalStatus::Ok)
            << op.name << " on " << elem.name;
      }
  }
}

TEST(ScalarOps, Division) {
  EXPECT_EQ(integer(OpId::Div, ElemKind::Int, -7, 2), -4);
  EXPECT_EQ(integer(OpId::Div, ElemKind::I32, -7, 2), -3);
  EXPECT_EQ(integer(OpId::Rem, ElemKind::Int, -7, 2), 1);
  EXPECT_EQ(integer(OpId::Rem, ElemKind::I32, -7, 2), -1);
  EXPECT_EQ(integer(OpId::Div, ElemKind::I8, -128, -1), -128);
  EXPECT_EQ(integer(OpId::Div, ElemKind::I64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integer(OpId::Rem, ElemKind::I64, INT64_MIN, -1), 0);
  EXPECT_EQ(integer(OpId::Div, ElemKind::U64, -1, 2), INT64_MAX);
  EXPECT_EQ(integer(OpId::Cdiv, ElemKind::Int, 7, 2), 4);
  EXPECT_EQ(integer(OpId::Cdiv, ElemKind::I32, -7, 2), -3);
  Scalar args[] = {Scalar::integer(1), Scalar::integer(0)}, result;
  EXPECT_EQ(evalScalar(OpId::Div, ElemKind::I32, args, result), EvalStatus::DivisionByZero);
}

TEST(ScalarOps, IntegersWrap) {
  EXPECT_EQ(integer(OpId::Add, ElemKind::I8, 127, 1), -128);
  EXPECT_EQ(integer(OpId::Sub, ElemKind::U8, 0, 1), 255);
  EXPECT_EQ(integer(OpId::Mul, ElemKind::I32, 1 << 20, 1 << 20), 0);
  EXPECT_EQ(integer(OpId::Pow, ElemKind::I32, -3, 3), -27);
  EXPECT_EQ(integer(OpId::Pow, ElemKind::I32, 2, -1), 0);
  EXPECT_EQ(integer(OpId::Pow, ElemKind::I32, -1, -3), -1);
  EXPECT_EQ(integer(OpId::Shl, ElemKind::U8, 255, 4), 240);
  EXPECT_EQ(integer(OpId::Shr, ElemKind::I8, -128, 3), -16);
  EXPECT_EQ(integer(OpId::Shr, ElemKind::I8, -128, 100), -1);
  EXPECT_EQ(integer(OpId::Shr, ElemKind::U32, 0x80000000, 31), 1);
  EXPECT_EQ(integer(OpId::Max, ElemKind::U64, -1, 1), -1);
  EXPECT_EQ(integer(OpId::Max, ElemKind::I64, -1, 1), 1);
}

TEST(ScalarOps, Floats) {
  EXPECT_TRUE(std::isnan(real(OpId::MaxNan, {1, NAN})));
  EXPECT_EQ(real(OpId::Max, {1, NAN}), 1);
  EXPECT_FALSE(std::signbit(real(OpId::MaxNan, {-0.0, 0.0})));
  EXPECT_TRUE(std::signbit(real(OpId::MinNan, {0.0, -0.0})));
  EXPECT_TRUE(std::isnan(real(OpId::Clamp, {NAN, 0, 1})));
  EXPECT_EQ(real(OpId::Sigmoid, {-1000}), 0);
  EXPECT_EQ(real(OpId::Sigmoid, {1000}), 1);
  EXPECT_EQ(real(OpId::Round, {2.5}), 2);
  EXPECT_EQ(real(OpId::Rem, {-7, 2}), -1);
  EXPECT_EQ(real(OpId::Fma, {1 + 0x1p-23, 1 - 0x1p-23, -1}, ElemKind::F32), -0x1p-46);
}

TEST(ScalarOps, Folds) {
  EXPECT_EQ(foldStart(OpId::ReduceMax, ElemKind::F16)->f, -INFINITY);
  EXPECT_EQ(foldStart(OpId::ReduceMax, ElemKind::F8E4M3)->f, -448);
  EXPECT_EQ(foldStart(OpId::ReduceMin, ElemKind::U8)->i, 255);
  EXPECT_EQ(foldStart(OpId::ReduceAll, ElemKind::Bool)->i, 1);
  EXPECT_FALSE(foldStart(OpId::Exp, ElemKind::F32));
  EXPECT_EQ(
      foldStep(OpId::ReduceSum, ElemKind::I32, Scalar::integer(INT32_MAX), Scalar::integer(1)).i,
      INT32_MIN);
  EXPECT_EQ(
      foldStep(OpId::ReduceAny, ElemKind::Bool, Scalar::boolean(false), Scalar::boolean(true)).i,
      1);
}

/// Known answers published with the generator.
TEST(ScalarOps, PhiloxKnownAnswers) {
  PhiloxBlock zero = philox4x32({{0, 0, 0, 0}}, 0);
  EXPECT_EQ(zero.words[0], 0x6627e8d5u);
  EXPECT_EQ(zero.words[1], 0xe169c58du);
  EXPECT_EQ(zero.words[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.words[3], 0x9b00dbd8u);
  PhiloxBlock ones = philox4x32({{~0u, ~0u, ~0u, ~0u}}, ~uint64_t{0});
  EXPECT_EQ(ones.words[0], 0x408f276du);
  EXPECT_EQ(ones.words[3], 0x6d5451fdu);
  PhiloxBlock pi =
      philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822);
  EXPECT_EQ(pi.words[0], 0xd16cfe09u);
  EXPECT_EQ(philoxBits(2, 0), zero.words[2]);
  EXPECT_EQ(philoxBits(7, 9), philox4x32({{1, 0, 0, 0}}, 9).words[3]);
}

TEST(ScalarOps, RandomValues) {
  EXPECT_EQ(randomScalar(0, ElemKind::F32, Scalar::real(-8), Scalar::real(8)).f, -8);
  EXPECT_LT(randomScalar(~0u, ElemKind::F32, Scalar::real(0), Scalar::real(1)).f, 1);
  EXPECT_EQ(randomScalar(17, ElemKind::I8, Scalar::integer(-5), Scalar::integer(5)).i, 2);
}

TEST(ScalarOps, Quantisation) {
  EXPECT_EQ(quantizeScalar(2.5, 1, 0, ElemKind::F32, ElemKind::I8).i, 2);
  EXPECT_EQ(quantizeScalar(1000, 1, 0, ElemKind::F32, ElemKind::I8).i, 127);
  EXPECT_EQ(quantizeScalar(-1, 0.5, 128, ElemKind::F32, ElemKind::U8).i, 126);
  EXPECT_EQ(dequantizeScalar(Scalar::integer(126), ElemKind::U8, 0.5, 128, ElemKind::F32).f, -1);
}

TEST(ScalarOps, OrderPutsNanLast) {
  Scalar one = Scalar::real(1), two = Scalar::real(2), nan = Scalar::real(NAN);
  EXPECT_TRUE(comesBefore(ElemKind::F32, false, one, two));
  EXPECT_TRUE(comesBefore(ElemKind::F32, true, two, one));
  EXPECT_TRUE(comesBefore(ElemKind::F32, true, one, nan));
  EXPECT_FALSE(comesBefore(ElemKind::F32, true, nan, one));
  EXPECT_FALSE(comesBefore(ElemKind::F32, false, nan, nan));
}

} // namespace
} // namespace ptl::reference
