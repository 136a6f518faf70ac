// How the result of a product is dealt to the cores of a chip: at most as many rounds as with the
// largest tiles, in tiles that are no larger than that.
#include "passes/transform/groups/product_tiles.h"

#include "frontend/base/round_up.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace mlir;

namespace ptl::ir {
namespace {

class ProductTiles : public testing::Test {
protected:
  ProductTiles() : module_(ModuleOp::create(UnknownLoc::get(&context_))) {
    context_.loadDialect<arith::ArithDialect>();
  }

  /// Lengths that are constants have steps that are.
  ProductTile stepsOf(int64_t rows, int64_t cols, ProductTile most, int64_t groups,
                      int64_t others = 1, bool cutsRows = true, bool cutsCols = true) {
    OpBuilder b = OpBuilder::atBlockEnd(module_->getBody());
    Location loc = module_->getLoc();
    auto number = [&](int64_t value) -> Value {
      return b.create<arith::ConstantIndexOp>(loc, value);
    };
    auto [rowStep, colStep] = balancedSteps(
        b, loc, {number(rows), number(cols), number(others), cutsRows, cutsCols}, most, groups);
    return {getConstantIntValue(rowStep).value_or(-1), getConstantIntValue(colStep).value_or(-1)};
  }
  static int64_t roundsOf(int64_t rows, int64_t cols, ProductTile tile, int64_t groups,
                          int64_t others = 1) {
    return countCovering(countCovering(rows, tile.rows) * countCovering(cols, tile.cols) * others,
                         groups);
  }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
};

void expectTile(ProductTile actual, int64_t rows, int64_t cols) {
  EXPECT_EQ(actual.rows, rows);
  EXPECT_EQ(actual.cols, cols);
}

TEST_F(ProductTiles, largestWhereAllCoresAreBusy) {
  expectTile(stepsOf(3072, 3072, {128, 256}, 24), 128, 256);
  expectTile(stepsOf(6144, 6144, {128, 256}, 24), 128, 256);
}

TEST_F(ProductTiles, smallerWhereSomeWouldBeIdle) {
  expectTile(stepsOf(512, 512, {128, 256}, 24), 128, 96);
  expectTile(stepsOf(16, 4096, {128, 256}, 24), 64, 192);
  expectTile(stepsOf(3200, 64, {128, 256}, 24), 80, 64);
}

TEST_F(ProductTiles, nothingToCutStays) {
  expectTile(stepsOf(512, 512, {128, 256}, 24, 1, false, true), 128, 96);
  expectTile(stepsOf(512, 512, {128, 256}, 24, 1, true, false), 64, 256);
}

TEST_F(ProductTiles, emptyAndShortAxes) {
  for (int64_t rows : {0, 1, 15, 16, 17})
    for (int64_t cols : {0, 1, 31, 33}) {
      ProductTile tile = stepsOf(rows, cols, {128, 256}, 24);
      EXPECT_EQ(tile.rows, 64);
      EXPECT_EQ(tile.cols, 64);
    }
}

TEST_F(ProductTiles, neverMoreRoundsAndNeverLarger) {
  for (ProductTile most : {ProductTile{128, 256}, {128, 128}, {64, 64}, {32, 16}})
    for (int64_t groups : {2, 20, 24, 28})
      for (int64_t rows : {1, 63, 129, 777, 1000, 3200, 8191})
        for (int64_t cols : {1, 65, 257, 1000, 4097})
          for (int64_t others : {1, 3}) {
            ProductTile tile = stepsOf(rows, cols, most, groups, others);
            EXPECT_GE(tile.rows, 1);
            EXPECT_GE(tile.cols, 1);
            EXPECT_LE(tile.rows, most.rows);
            EXPECT_LE(tile.cols, most.cols);
            EXPECT_LE(roundsOf(rows, cols, tile, groups, others),
                      roundsOf(rows, cols, most, groups, others))
                << rows << " x " << cols << " in " << most.rows << " x " << most.cols;
          }
}

} // namespace
} // namespace ptl::ir
