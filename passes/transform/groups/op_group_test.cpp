// What joins a group, on a CPU and on a chip: the rules are the same, and the limits differ.
#include "passes/transform/groups/op_group.h"

#include "passes/analysis/test_operations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace ptl::ir {
namespace {

/// Operations are found by the name in their attribute `n`.
class Groups : public testing::Test {
protected:
  Groups() { context_.loadDialect<func::FuncDialect, PtlDialect>(); }

  void parse(const std::string &arguments, const std::string &body) {
    module_ = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}", &context_);
    ASSERT_TRUE(module_);
  }
  Operation *at(llvm::StringRef name) { return operationNamed(*module_, name); }
  /// The names of the lengths along which tiles are independent.
  static std::string parallelOf(const OpGroup &group) {
    std::string names;
    for (int64_t id : group.parallel())
      names += group.axis(id).extent.symbol.str() + " ";
    return names;
  }
  /// What does not fit leaves a group as it was.
  void expectRefused(OpGroup &group, llvm::StringRef name) {
    std::string parallel = parallelOf(group);
    size_t axes = group.numAxes();
    llvm::SmallVector<Operation *> members = group.members();
    EXPECT_FALSE(group.tryJoin(at(name))) << name.str();
    EXPECT_EQ(parallelOf(group), parallel);
    EXPECT_EQ(group.numAxes(), axes);
    EXPECT_EQ(group.members(), members);
    EXPECT_FALSE(group.contains(at(name)));
  }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
};

const GroupLimits *const kTargets[] = {&kCpuLimits, &kChipLimits};

TEST_F(Groups, WhatIsFoldedIsNoAxisOfIndependentTiles) {
  parse("%x: !ptl.array<f32[R, C]>", R"(
    %s = ptl.reduce_sum %x {axes = array<i64: 1>, n = "s"} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, 1]>
    %d = ptl.div %x, %s {n = "d"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, C]>
  )");
  for (const GroupLimits *limits : kTargets) {
    OpGroup group(at("d"), *limits);
    EXPECT_EQ(parallelOf(group), "R C ");
    EXPECT_TRUE(group.tryJoin(at("s")));
    EXPECT_EQ(parallelOf(group), "R ");
    EXPECT_EQ(group.members().size(), 2U);
  }
  // A chip goes along the folded axis in chunks, a CPU has all of it in a tile.
  OpGroup onCpu(at("d"), kCpuLimits), onChip(at("d"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("s")) && onChip.tryJoin(at("s")));
  EXPECT_EQ(onCpu.operandMap(at("s"), 0), (AxisMap{0, kWhole}));
  EXPECT_EQ(onChip.operandMap(at("s"), 0), (AxisMap{0, 1}));
  EXPECT_TRUE(onChip.axis(1).isReduced);
}

TEST_F(Groups, NothingCostlyIsComputedAgain) {
  parse("%x: !ptl.array<f32[R, C]>, %w: !ptl.array<f32[1, K]>", R"(
    %s = ptl.reduce_sum %w {axes = array<i64: 1>, n = "s"} : (!ptl.array<f32[1, K]>) -> !ptl.array<f32[1, 1]>
    %d = ptl.div %x, %s {n = "d"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[1, 1]>) -> !ptl.array<f32[R, C]>
  )");
  for (const GroupLimits *limits : kTargets) {
    OpGroup group(at("d"), *limits);
    expectRefused(group, "s");
  }
}

TEST_F(Groups, NothingRunsAlongOneAxisTwice) {
  parse("%x: !ptl.array<f32[N, N]>", R"(
    %e = ptl.exp %x {n = "e"} : (!ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N]>
    %t = ptl.transpose %e {axes = array<i64: 1, 0>, n = "t"} : (!ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N]>
    %d = ptl.add %e, %t {n = "d"} : (!ptl.array<f32[N, N]>, !ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N]>
  )");
  OpGroup onCpu(at("d"), kCpuLimits), onChip(at("d"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("t"))); // on a chip it is looked through
  expectRefused(onCpu, "e");
  expectRefused(onChip, "e");
}

const char *const kScanned = R"(
    %p = ptl.matmul %a, %b {precision = "full", n = "p"} : (!ptl.array<f32[M, K]>, !ptl.array<f32[K, N]>) -> !ptl.array<f32[M, N]>
    %v = ptl.new_axis %p [0] {n = "v"} : <f32[M, N]> -> <f32[1, M, N]>
    %d = ptl.add %z, %v {n = "d"} : (!ptl.array<f32[B, M, N]>, !ptl.array<f32[1, M, N]>) -> !ptl.array<f32[B, M, N]>
    %c = ptl.cumsum %d {axis = 0 : i64, n = "c"} : (!ptl.array<f32[B, M, N]>) -> !ptl.array<f32[B, M, N]>
  )";

/// A tile of a chip has the rows and columns of the product, so that the scan would go along one of
/// these; a tile of a CPU has all of the axis that the scan goes along.
TEST_F(Groups, AScanGoesAlongNoAxisThatAProductLacks) {
  parse("%a: !ptl.array<f32[M, K]>, %b: !ptl.array<f32[K, N]>, %z: !ptl.array<f32[B, M, N]>",
        kScanned);
  OpGroup onCpu(at("c"), kCpuLimits), onChip(at("c"), kChipLimits);
  EXPECT_TRUE(onChip.tryJoin(at("d")));
  expectRefused(onChip, "p");
  EXPECT_TRUE(onCpu.tryJoin(at("d")) && onCpu.tryJoin(at("v")) && onCpu.tryJoin(at("p")));
  EXPECT_EQ(parallelOf(onCpu), "M N ");
  EXPECT_TRUE(onCpu.hasProduct());
}

TEST_F(Groups, ASortOfAProductsRowsIsOfItsTiles) {
  parse("%a: !ptl.array<f32[M, K]>, %b: !ptl.array<f32[K, N]>", R"(
    %p = ptl.matmul %a, %b {precision = "full", n = "p"} : (!ptl.array<f32[M, K]>, !ptl.array<f32[K, N]>) -> !ptl.array<f32[M, N]>
    %c = ptl.sort %p {axis = 1 : i64, descending = false, n = "c"} : (!ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  )");
  for (const GroupLimits *limits : kTargets) {
    OpGroup group(at("c"), *limits);
    EXPECT_TRUE(group.tryJoin(at("p")));
    EXPECT_EQ(parallelOf(group), "M ");
  }
}

TEST_F(Groups, ChipsLoadOperandsOfProducts) {
  parse("%a: !ptl.array<f32[M, K]>, %b: !ptl.array<f32[K, N]>", R"(
    %e = ptl.exp %a {n = "e"} : (!ptl.array<f32[M, K]>) -> !ptl.array<f32[M, K]>
    %p = ptl.matmul %e, %b {precision = "full", n = "p"} : (!ptl.array<f32[M, K]>, !ptl.array<f32[K, N]>) -> !ptl.array<f32[M, N]>
  )");
  OpGroup onCpu(at("p"), kCpuLimits), onChip(at("p"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("e")));
  expectRefused(onChip, "e");
}

TEST_F(Groups, OnlyOnCpusSomethingIsFoldedBesideAProduct) {
  parse("%a: !ptl.array<f32[M, K]>, %b: !ptl.array<f32[K, N]>, %z: !ptl.array<f32[M, Q]>", R"(
    %p = ptl.matmul %a, %b {precision = "full", n = "p"} : (!ptl.array<f32[M, K]>, !ptl.array<f32[K, N]>) -> !ptl.array<f32[M, N]>
    %s = ptl.reduce_sum %z {axes = array<i64: 1>, n = "s"} : (!ptl.array<f32[M, Q]>) -> !ptl.array<f32[M, 1]>
    %d = ptl.mul %p, %s {n = "d"} : (!ptl.array<f32[M, N]>, !ptl.array<f32[M, 1]>) -> !ptl.array<f32[M, N]>
  )");
  OpGroup onCpu(at("d"), kCpuLimits), onChip(at("d"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("s")) && onCpu.tryJoin(at("p")));
  EXPECT_TRUE(onChip.tryJoin(at("p")));
  expectRefused(onChip, "s");
}

/// Chips go along rows of any length in passes, and would do the work before a maximum in each of them.
TEST_F(Groups, ChipsStoreMuchWorkThatPassesWouldRepeat) {
  const char *const softmax = R"(
    %t = ptl.tanh %x {n = "t"} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, C]>
    %m = ptl.reduce_max %t {axes = array<i64: 1>, n = "m"} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, 1]>
    %d = ptl.sub %t, %m {n = "d"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, C]>
    %r = ptl.div %x, %z {n = "r"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[R, C]>) -> !ptl.array<f32[R, C]>
    %n = ptl.reduce_max %r {axes = array<i64: 1>, n = "n"} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, 1]>
    %e = ptl.sub %r, %n {n = "e"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, C]>
    %s = ptl.reduce_sum %t {axes = array<i64: 1>, n = "s"} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, 1]>
  )";
  parse("%x: !ptl.array<f32[R, C]>, %z: !ptl.array<f32[R, C]>", softmax);
  OpGroup onCpu(at("d"), kCpuLimits), onChip(at("d"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("m")) && onCpu.tryJoin(at("t")));
  EXPECT_TRUE(onChip.tryJoin(at("m")));
  expectRefused(onChip, "t");
  // A quotient is computed again, and one pass repeats nothing.
  OpGroup light(at("e"), kChipLimits), once(at("s"), kChipLimits);
  EXPECT_TRUE(light.tryJoin(at("n")) && light.tryJoin(at("r")));
  EXPECT_TRUE(once.tryJoin(at("t")));
}

TEST_F(Groups, ChipsStoreMuchWorkThatManyTilesNeed) {
  parse("%x: !ptl.array<f32[R, C]>, %a: !ptl.array<f32[1, C]>, %b: !ptl.array<f32[1, 1]>", R"(
    %t = ptl.tanh %a {n = "t"} : (!ptl.array<f32[1, C]>) -> !ptl.array<f32[1, C]>
    %u = ptl.tanh %b {n = "u"} : (!ptl.array<f32[1, 1]>) -> !ptl.array<f32[1, 1]>
    %p = ptl.mul %x, %t {n = "p"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[1, C]>) -> !ptl.array<f32[R, C]>
    %q = ptl.mul %p, %u {n = "q"} : (!ptl.array<f32[R, C]>, !ptl.array<f32[1, 1]>) -> !ptl.array<f32[R, C]>
  )");
  OpGroup onCpu(at("q"), kCpuLimits), onChip(at("q"), kChipLimits);
  EXPECT_TRUE(onCpu.tryJoin(at("u")) && onCpu.tryJoin(at("p")) && onCpu.tryJoin(at("t")));
  EXPECT_TRUE(onChip.tryJoin(at("u")) && onChip.tryJoin(at("p")));
  expectRefused(onChip, "t");
}

/// Outside of grids only a CPU runs code.
TEST_F(Groups, ChipsHaveGridsWithoutIndependentTiles) {
  parse("%x: !ptl.array<f32[N]>", R"(
    %c = ptl.cumsum %x {axis = 0 : i64, n = "c"} : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  )");
  EXPECT_FALSE(OpGroup(at("c"), kCpuLimits).isFeasible());
  EXPECT_TRUE(OpGroup(at("c"), kChipLimits).isFeasible());
}

} // namespace
} // namespace ptl::ir
