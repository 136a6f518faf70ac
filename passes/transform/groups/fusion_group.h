// Groups of tensor operations that one grid computes.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/axis_map.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace ptl::ir {

/// A root and the operations that are computed, tile by tile, together with it. `parallel` holds
/// the axes of the root along which tiles are independent; each member's map says along which of
/// them its value runs.
class FusionGroup {
public:
  explicit FusionGroup(mlir::Operation *root);

  mlir::Operation *root() const { return root_; }
  bool contains(mlir::Operation *op) const { return members_.count(op) != 0; }
  /// Adds an operation all of whose users are members; false (and nothing changed) when it does not
  /// fit.
  bool tryJoin(mlir::Operation *op);
  /// Axes of the root with independent tiles, ascending. Empty: the root stays as it is.
  llvm::ArrayRef<int64_t> parallel() const { return parallel_; }
  /// The root and what joined it.
  llvm::SmallVector<mlir::Operation *> members() const;
  bool hasProduct() const { return hasProduct_; }
  /// The map of an operand of a member, restricted to the parallel axes.
  AxisMap operandMap(mlir::Operation *member, unsigned operand) const;
  AxisMap mapOf(mlir::Operation *member) const;

private:
  struct State {
    llvm::SmallVector<int64_t> parallel;
    std::optional<AxisMap> map;
  };
  AxisMap restrict(const AxisMap &map, llvm::ArrayRef<int64_t> parallel) const;
  std::optional<AxisMap> mergedUse(mlir::Operation *op,
                                   llvm::SmallVectorImpl<int64_t> &parallel) const;
  bool shrink(mlir::Operation *op, const AxisMap &map,
              llvm::SmallVectorImpl<int64_t> &parallel) const;

  mlir::Operation *root_;
  llvm::MapVector<mlir::Operation *, AxisMap> members_;
  llvm::SmallVector<int64_t> parallel_;
  bool hasProduct_ = false;
};

/// Array operations that only describe or create (casts, new axes, slices, constants): free to
/// repeat in each group.
bool isViewLike(mlir::Operation *op);
/// Reductions, products, scans and sorts: never computed twice.
bool isExpensive(mlir::Operation *op);

} // namespace ptl::ir
