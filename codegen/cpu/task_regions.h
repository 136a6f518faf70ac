// What a grid of a program reads and writes, as boxes of storage in terms of values that are known
// where the grid is submitted.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Start, count and step of an axis as values of the submitting function; without a start, all
/// positions.
struct AxisBounds {
  mlir::Value start, count, step;
};

struct RegionBounds {
  bool isWritten = false;
  llvm::SmallVector<AxisBounds, 4> axes;
};

/// The boxes of `ref` that a grid touches: in its body, and through values from outside that it
/// reads. Loops are covered by the hull of their positions. Nothing if that is not known.
class TaskRegions {
public:
  TaskRegions(Lowering &lowering, ir::ParallelOp grid);
  std::optional<llvm::SmallVector<RegionBounds, 4>> of(mlir::Value ref);

  /// The box of a load that stands outside of grids.
  static RegionBounds ofLoad(Lowering &lowering, ir::LoadOp load);
  /// The boxes of a storage that a store outside of grids writes, and reads by what it stores.
  static std::optional<llvm::SmallVector<RegionBounds, 4>>
  ofStore(Lowering &lowering, ir::StoreOp store, mlir::Value ref);

private:
  struct Range {
    mlir::Value low, high; ///< both inclusive
    explicit operator bool() const { return low && high; }
  };
  TaskRegions(Lowering &lowering, mlir::Operation *grid) : l_(lowering), grid_(grid) {}

  void visitOutside(mlir::Value value);
  bool isOutside(mlir::Value value) const;
  Range rangeOf(mlir::Value value);
  Range rangeOfOp(mlir::Operation *op);
  Range rangeOfPosition(mlir::BlockArgument position);
  /// One past the last position that a range reaches, for step 1.
  mlir::Value endOf(mlir::Value offset, mlir::Value length);
  mlir::Value endOfTail(mlir::Value offset, mlir::Value length);
  AxisBounds axisOf(mlir::Value offset, mlir::Value length, mlir::Value step);
  RegionBounds boxOf(mlir::Operation *op);

  Lowering &l_;
  mlir::Operation *grid_;
  bool isOpaque_ = false;
  llvm::SmallVector<mlir::Operation *> accesses_; ///< loads and stores, each once
  llvm::DenseSet<mlir::Operation *> seen_;
  llvm::DenseMap<mlir::Value, Range> ranges_;
};

} // namespace ptl::cpu
