// A group of tensor operations that one grid computes in tiles of two axes, and the space of axes
// that they run along. Unlike in `FusionGroup` an axis that a reduction folds stays an axis: the
// grid goes along it in chunks, once for each step that needs the whole of it.
#pragma once

#include "passes/transform/groups/chunk_access.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <vector>

namespace ptl::ir {

struct SpaceAxis {
  Extent extent;
  mlir::Value like; ///< its length is that of `axis` of this value
  int64_t axis = 0;
  bool isReduced = false; ///< some member folds it
  bool isWhole = false;   ///< some member needs it at once: what products contract, scans
};

class ChunkGroup {
public:
  explicit ChunkGroup(mlir::Operation *root);

  mlir::Operation *root() const { return root_; }
  bool contains(mlir::Operation *op) const { return members_.count(op) != 0; }
  /// Adds an operation all of whose uses are in the group; false (and nothing changed) when it does
  /// not fit.
  bool tryJoin(mlir::Operation *op);
  /// The root and what joined it, users before what they use.
  llvm::SmallVector<mlir::Operation *> members() const;
  bool hasProduct() const { return hasProduct_; }
  /// Whether the root can be computed in tiles at all.
  bool isFeasible() const { return contains(root_); }

  size_t numAxes() const { return axes_.size(); }
  const SpaceAxis &axis(int64_t id) const { return axes_[static_cast<size_t>(id)]; }
  /// Axes of the space along which tiles are independent: axes of the root, in its order.
  llvm::SmallVector<int64_t> parallel() const;
  bool isParallel(int64_t id) const { return llvm::is_contained(parallel(), id); }
  /// Whether some product has the positions along an axis one by one, as products of their own.
  bool isBatch(int64_t id) const;
  AxisMap mapOf(mlir::Operation *member) const;
  AxisMap operandMap(mlir::Operation *member, unsigned operand) const;
  /// Axes that a reduction folds; extents of 1 are none.
  llvm::SmallVector<int64_t> foldedBy(mlir::Operation *reduction) const;
  /// The axis of the space that all names of it lead to.
  int64_t find(int64_t id) const;

private:
  using Maps = llvm::SmallVector<AxisMap>;
  int64_t newAxis(mlir::Value like, int64_t axis);
  bool add(mlir::Operation *op, const AxisMap &map);
  std::optional<Maps> operandMapsOf(mlir::Operation *op, const AxisMap &map);
  void foldOwnAxes(mlir::Operation *reduction);
  void markFolded(mlir::Operation *op, AxisMap &operand, bool whole);
  void use(mlir::Value value, const AxisMap &map);
  bool unify(int64_t a, int64_t b);
  bool unify(const AxisMap &a, const AxisMap &b);
  void shareWithEarlierUses(const Access &access);
  bool isSound() const;
  AxisMap resolved(const AxisMap &map) const;

  mlir::Operation *root_;
  llvm::MapVector<mlir::Operation *, AxisMap> members_;
  llvm::DenseMap<mlir::Operation *, Maps> operands_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access, 2>> accesses_; ///< by origin
  llvm::SmallVector<Access, 4> newUses_;        ///< of the member that is being added
  llvm::DenseSet<mlir::Value> productOperands_; ///< stored first, so that products load them
  std::vector<SpaceAxis> axes_;
  std::vector<int64_t> parents_;
  bool hasProduct_ = false;
};

/// Reductions, searches, products and scans: never computed twice.
bool isCostly(mlir::Operation *op);
/// Operations that a group computes in tiles: elementwise ones and those above.
bool isTiled(mlir::Operation *op);
bool isReduction(mlir::Operation *op);
bool isScan(mlir::Operation *op);
/// Scans whose parts follow from the part itself and what comes before, folded.
bool isCumulative(mlir::Operation *op);
bool isProduct(mlir::Operation *op);
/// The axes that a reduction folds.
llvm::SmallVector<int64_t> foldedAxesOf(mlir::Operation *reduction);

} // namespace ptl::ir
