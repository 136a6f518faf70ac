// Emits grids for a CPU. A tile is a part of a value along all its axes, with lengths that are
// known at run time. The body computes the members of the group tile by tile, in program order; the
// code generator chooses the loops over elements, and what is fused into them.
#pragma once

#include "passes/transform/groups/grid_emitter.h"

namespace ptl::ir {

class PartitionEmitter : public GridEmitter {
public:
  PartitionEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number)
      : GridEmitter(groups, sizes, number) {}

private:
  void chooseSizes(bool isFirst) override;
  llvm::SmallVector<int64_t> gridAxes() const override { return group_->parallel(); }
  bool hasEqualTiles(int64_t id) const override {
    const Extent &whole = group_->axis(id).extent;
    return axis(id).step == 1 ||
           ((isTiny_ || isByFew_) && whole.isConstant() && whole.length == axis(id).step);
  }
  std::string tileName(int64_t id) override;
  mlir::Location positionLoc() const override;
  void emitCode(llvm::ArrayRef<RootStores> stores) override;
  void emitGroup(llvm::ArrayRef<StoreOp> into) override;

  mlir::Value budgetOf(mlir::Value value, const AxisMap &map, int64_t bytes);
  mlir::Value tileBudget();
  mlir::Value atLeastOne(mlir::Value value);
  mlir::Value atLeast(mlir::Value value, int64_t least);
  mlir::Value tileOf(mlir::Value value, const AxisMap &map);
  mlir::Value cloneSlice(SliceOp slice, const AxisMap &map);
  mlir::Value cloneMember(mlir::Operation *op, const AxisMap &map);
  mlir::Value cloneCreation(mlir::Operation *op, const AxisMap &map);
  mlir::Value sliceOf(mlir::Value value, const AxisMap &map);
  mlir::Value slicePadded(PadOp pad, const AxisMap &map);
  ArrayType tileType(ArrayType type, const AxisMap &map);

  llvm::DenseMap<mlir::Value, mlir::Value> tiles_;
  llvm::SmallVector<StoreOp> stored_;
  bool isTiny_ = false;  ///< tiles have a few small matrices, whole
  bool isByFew_ = false; ///< tiles have rows that are multiplied by a few numbers
};

} // namespace ptl::ir
