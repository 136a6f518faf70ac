#include "ir/ops/op_lowering.h"

#include "gtest/gtest.h"

#include <cmath>

namespace ptl {
namespace {

TEST(OpLowering, WhatCombinesHasAnIdentity) {
  for (const OpRecord &op : allOps()) {
    const OpLowering &lowering = opLowering(op.id);
    bool folds = op.opClass == OpClass::Reduction || op.opClass == OpClass::Scan;
    EXPECT_TRUE(folds || (!lowering.combiner && !lowering.onNumbers)) << op.mnemonic;
    if (lowering.combiner)
      EXPECT_NE(opLowering(*lowering.combiner).identity, Identity::None) << op.mnemonic;
    if (lowering.onNumbers)
      EXPECT_TRUE(opLowering(*lowering.onNumbers).forms.alongRows) << op.mnemonic;
  }
}

TEST(OpLowering, ExchangingTwiceChangesNothing) {
  for (const OpRecord &op : allOps())
    if (std::optional<OpId> swapped = opLowering(op.id).swapped)
      EXPECT_EQ(opLowering(*swapped).swapped, op.id) << op.mnemonic;
}

TEST(OpLowering, IdentitiesAreEndsOfTheElementType) {
  EXPECT_EQ(identityOf(OpId::Add, ElemKind::F32).f, 0);
  EXPECT_EQ(identityOf(OpId::Mul, ElemKind::I32).i, 1);
  EXPECT_EQ(identityOf(OpId::Max, ElemKind::F16).f, -INFINITY);
  EXPECT_EQ(identityOf(OpId::Max, ElemKind::F8E4M3).f, -448);
  EXPECT_EQ(identityOf(OpId::Max, ElemKind::I8).i, -128);
  EXPECT_EQ(identityOf(OpId::Max, ElemKind::U16).i, 0);
  EXPECT_EQ(identityOf(OpId::Min, ElemKind::U8).i, 255);
  EXPECT_EQ(identityOf(OpId::And, ElemKind::Bool).i, 1);
  EXPECT_EQ(identityOf(OpId::Or, ElemKind::Bool).i, 0);
}

} // namespace
} // namespace ptl
