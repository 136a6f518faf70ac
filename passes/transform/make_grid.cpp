#include "passes/transform/make_grid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

ParallelOp openGrid(OpBuilder &builder, Location loc, ValueRange upper, ValueRange steps,
                    Location positionLoc) {
  llvm::SmallVector<Value> lower(upper.size(), builder.create<arith::ConstantIndexOp>(loc, 0));
  auto grid = builder.create<ParallelOp>(loc, lower, upper, steps);
  llvm::SmallVector<Type> types(upper.size(), builder.getIndexType());
  llvm::SmallVector<Location> locs(upper.size(), positionLoc);
  builder.createBlock(&grid.getBody(), {}, types, locs);
  return grid;
}

} // namespace ptl::ir
