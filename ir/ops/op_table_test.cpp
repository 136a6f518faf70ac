#include "ir/ops/op_table.h"

#include "gtest/gtest.h"

#include <set>
#include <string>
#include <vector>

namespace ptl {
namespace {

size_t valueCount(const OpRecord &op) {
  size_t count = 0;
  for (const OpParam &param : op.params)
    count += param.kind == ParamKind::Value;
  return count;
}

TEST(OpTable, IdsIndexTheTable) {
  size_t index = 0;
  for (const OpRecord &op : allOps()) {
    EXPECT_EQ(static_cast<size_t>(op.id), index++) << op.name;
    EXPECT_EQ(&opRecord(op.id), &op);
  }
}

TEST(OpTable, MnemonicsAreUnique) {
  std::set<std::string_view> seen;
  for (const OpRecord &op : allOps())
    EXPECT_TRUE(seen.insert(op.mnemonic).second) << op.mnemonic;
}

TEST(OpTable, EveryNameAndAliasIsFound) {
  for (const OpRecord &op : allOps()) {
    std::vector<std::string_view> names(op.aliases.begin(), op.aliases.end());
    names.push_back(op.name);
    for (std::string_view name : names) {
      bool found = false;
      for (const OpRecord *candidate : findOps(name))
        found |= candidate == &op;
      EXPECT_TRUE(found) << name;
    }
  }
  EXPECT_TRUE(findOps("no_such_operation").empty());
  EXPECT_TRUE(findOps("").empty());
}

TEST(OpTable, EveryElementTypeConverts) {
  for (const ElemInfo &info : elemInfos) {
    ASSERT_EQ(findOps(info.name).size(), 1u) << info.name;
    EXPECT_EQ(findOps(info.name)[0]->id, OpId::Convert);
  }
}

TEST(OpTable, SameNameNeverFitsTheSameCall) {
  for (const OpRecord &op : allOps())
    for (const OpRecord *other : findOps(op.name)) {
      if (other == &op)
        continue;
      for (size_t positional = 0; positional < 5; ++positional) {
        EXPECT_FALSE(acceptsCall(op, positional) && acceptsCall(*other, positional)) << op.name;
        for (const OpParam &a : op.params) {
          std::string_view named[] = {a.name};
          EXPECT_FALSE(acceptsCall(op, positional, named) && acceptsCall(*other, positional, named))
              << op.name << " with " << a.name;
        }
      }
    }
}

TEST(OpTable, ArgumentsChooseTheRecord) {
  std::string_view axis[] = {"axis"};
  EXPECT_EQ(findOp("max", 2)->id, OpId::Max);
  EXPECT_EQ(findOp("max", 1)->id, OpId::ReduceMax);
  EXPECT_EQ(findOp("max", 1, axis)->id, OpId::ReduceMax);
  EXPECT_EQ(findOp("max", 2, axis), nullptr);
  EXPECT_EQ(findOp("-", 1)->id, OpId::Neg);
  EXPECT_EQ(findOp("-", 2)->id, OpId::Sub);
  EXPECT_EQ(findOp("concat", 3, axis)->id, OpId::Concat);
  EXPECT_EQ(findOp("concat", 3), nullptr);
  EXPECT_EQ(findOp(".T", 1)->id, OpId::Transpose);
  std::string_view both[] = {"x"};
  EXPECT_EQ(findOp("exp", 1, both), nullptr);
  EXPECT_EQ(findOp("exp", 0, both)->id, OpId::Exp);
}

TEST(OpTable, SignaturesHaveOneOperandPerValue) {
  for (const OpRecord &op : allOps()) {
    ASSERT_FALSE(op.signatures.empty()) << op.name;
    for (const Signature &signature : op.signatures)
      EXPECT_EQ(signature.operands.size(), valueCount(op)) << op.name << " " << signature.text;
  }
}

TEST(OpTable, SignatureOfMatmul) {
  const Signature &s = opRecord(OpId::Matmul).signatures[0];
  ASSERT_EQ(s.elemVars.size(), 1u);
  EXPECT_EQ(s.elemVars[0].constraint, ElemConstraint::Number);
  ASSERT_EQ(s.dimVars.size(), 3u);
  EXPECT_EQ(s.dimVars[2], "N");
  EXPECT_TRUE(s.operands[1].shape.hasRest);
  EXPECT_EQ(s.operands[1].shape.dims[0], 1);
  EXPECT_EQ(s.results[0].elem.kind, ElemPatternKind::Acc);
}

TEST(OpTable, RecordsAreDocumented) {
  for (const OpRecord &op : allOps()) {
    EXPECT_FALSE(op.summary.empty()) << op.name;
    EXPECT_FALSE(op.summary.ends_with('.')) << op.name;
    EXPECT_FALSE(op.description.empty()) << op.name;
    EXPECT_TRUE(op.example.ends_with('\n')) << op.name;
    bool isUsed = op.example.find(op.name) != std::string_view::npos;
    for (std::string_view alias : op.aliases)
      isUsed |= op.example.find(alias) != std::string_view::npos;
    EXPECT_TRUE(isUsed) << op.name;
  }
}

TEST(ElemTypes, NamesAndClasses) {
  for (const ElemInfo &info : elemInfos) {
    EXPECT_EQ(elemKindByName(info.name), info.kind);
    EXPECT_EQ(accOf(accOf(info.kind)), accOf(info.kind)) << info.name;
    EXPECT_EQ(satisfies(info.kind, ElemConstraint::Number),
              (isFloat(info.kind) || isInteger(info.kind)) && !isHeldOnly(info.kind));
    if (isFloat(info.kind) && info.kind != ElemKind::F8E8M0) { // that one has no sign
      EXPECT_EQ(1 + info.mantissaBits + info.exponentBits, info.bits);
    }
  }
  EXPECT_FALSE(elemKindByName("half"));
  EXPECT_EQ(accOf(ElemKind::F16), ElemKind::F32);
  EXPECT_EQ(accOf(ElemKind::I8), ElemKind::I32);
}

} // namespace
} // namespace ptl
