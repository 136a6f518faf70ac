#include "passes/lower_block/tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

namespace ptl::block {
namespace {

// Code holds the tile of an operand while it sets those of results.
TEST(TileMap, TilesStayWhereTheyAre) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect>();
  mlir::OpBuilder b(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToStart(module->getBody());
  llvm::SmallVector<Value> values;
  for (int64_t i = 0; i < 500; ++i)
    values.push_back(b.create<mlir::arith::ConstantIndexOp>(b.getUnknownLoc(), i));
  TileMap tiles;
  Tile first;
  first.extents.rows = 7;
  tiles.set(values.front(), first);
  const Tile *held = tiles.find(values.front());
  for (Value value : llvm::drop_begin(values))
    tiles.set(value, Tile());
  EXPECT_EQ(tiles.find(values.front()), held);
  EXPECT_EQ(held->extents.rows, 7);
  first.extents.rows = 8;
  tiles.set(values.front(), first);
  EXPECT_EQ(tiles.find(values.front()), held);
  EXPECT_EQ(held->extents.rows, 8);
  tiles.erase(values.front());
  EXPECT_EQ(tiles.find(values.front()), nullptr);
}

} // namespace
} // namespace ptl::block
