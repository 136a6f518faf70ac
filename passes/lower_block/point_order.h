// In which order the core groups take the points of a grid.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The points of a grid are numbered from 0, and core group g of n takes the points g, g + n, …: those with
/// neighbouring numbers run at the same time. The last axis changes fastest, unless the points compute
/// products of what some loads bring for each row of the grid and others for each column: then the last two
/// axes are gone along in bands of rows, and rows change fastest within a band. So what runs at the same
/// time reads a few rows and a few columns instead of one row and many columns, which memory would have to
/// bring again for each row where the cache does not hold them, and all at once where it does.
class PointOrder {
public:
  /// Emits what the order is computed from, before the loop over the points. `counts`: the number of
  /// positions along each axis.
  PointOrder(KernelContext &context, ir::ParallelOp grid, llvm::ArrayRef<mlir::Value> counts);

  /// The number of the position along each axis, of the point with this number.
  llvm::SmallVector<mlir::Value> positionsOf(mlir::Value point) const;

private:
  KernelContext &c_;
  llvm::SmallVector<mlir::Value> counts_;
  mlir::Value band_; ///< rows in a band; null: there are no bands
};

} // namespace ptl::block
