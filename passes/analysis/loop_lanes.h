// Finds the axes along which the rounds of a loop of a program are independent: each position of
// what a round computes and stores depends on the same position of what the rounds before it left.
// Along such an axis, a *lane*, the loop may be executed for some positions at a time.
#pragma once

#include "passes/analysis/axis_map.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <map>
#include <set>

namespace ptl::ir {

class LoopLanes {
public:
  /// The lanes of a loop outside of grids; nothing if it has none, or contains what cannot be
  /// executed for a part of an axis: products, searches, stores by position, checks.
  /// `mayReread`: rounds may read storage that the loop writes.
  static std::optional<LoopLanes> of(mlir::scf::ForOp loop, bool mayReread);

  /// For each axis of a value of the loop, or of a value from outside that it uses, the number of
  /// its lane or held axis, or `kWhole` if it is neither. Lanes are numbered in the order of the axes of the loop's result with most axes.
  AxisMap mapOf(mlir::Value value) const;
  size_t count() const { return numLanes_; }
  /// Axes of values of the loop that are no lanes and have no static bound; they have the numbers
  /// behind those of the lanes.
  size_t heldCount() const { return lanes_.size() - numLanes_; }
  /// Whether a value is there before the loop.
  bool isOutside(mlir::Value value) const;
  /// Whether the loop writes this storage; `mapOf` has the lanes of its axes, too.
  bool isWritten(mlir::Value ref) const { return written_.contains(ref); }
  /// What tells the length of a lane or held axis in front of the loop.
  struct Length {
    mlir::Value array; ///< the length is that of `axis` of it; null: it is `number`
    int64_t axis = 0;
    mlir::Value number;
  };
  const Length &lengthOf(size_t lane) const { return lengths_[lane]; }
  /// The largest number of elements that a value of the loop has for one position of all lanes, if
  /// held axes have this length.
  int64_t elementsBeside(int64_t held) const;
  /// Whether rounds need what the rounds before them left; otherwise each of them could run alone.
  bool isRecurrence() const { return isRecurrence_; }
  /// Whether some matrix of the loop has the lane as its last axis, whose elements lie side by side.
  bool isInRows(size_t lane) const;
  /// The largest rank of a value of the loop.
  size_t rank() const { return rank_; }

private:
  /// An axis of a value or of storage.
  using Node = std::pair<void *, int64_t>;
  static Node node(mlir::Value value, int64_t axis) { return {value.getAsOpaquePointer(), axis}; }

  explicit LoopLanes(mlir::scf::ForOp loop) : loop_(loop) {}
  void join(mlir::Value a, int64_t axisA, mlir::Value b, int64_t axisB);
  void joinAll(mlir::Value a, mlir::Value b);
  void keepWhole(mlir::Value value, int64_t axis) { whole_.insert(node(value, axis)); }
  void keepWhole(mlir::Value value);
  bool visit(mlir::Block &block);
  bool visit(mlir::Operation *op);
  bool visitSlice(mlir::Operation *op, mlir::Value base, mlir::Value value);
  bool visitStorage(mlir::Operation *op, mlir::Value ref, mlir::Value value);
  bool visitTiled(mlir::Operation *op);
  void visitBranches(mlir::scf::IfOp branch);
  bool visitLoop(mlir::scf::ForOp loop);
  bool choose();
  bool findLengths();
  void separate(mlir::Value value, std::set<Node> &refused) const;
  bool hasAxisOf(mlir::Value value, const Node &leader) const;
  void findHeld();

  mlir::scf::ForOp loop_;
  llvm::EquivalenceClasses<Node> classes_;
  std::set<Node> whole_;
  llvm::SmallVector<mlir::Value> values_;  ///< arrays that the loop computes, carries or uses whole
  llvm::SmallVector<mlir::Value> results_; ///< carried arrays, and storage that is written
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> offsets_; ///< of boxes of storage
  llvm::DenseSet<mlir::Value> written_;                                 ///< storage
  std::map<Node, mlir::Value> boxLengths_;                              ///< of boxes
  llvm::SmallVector<Node> lanes_; ///< the leaders of the classes of lanes, then of held axes
  size_t numLanes_ = 0;
  llvm::SmallVector<Length> lengths_;
  size_t rank_ = 0;
  bool isRecurrence_ = false;
};

} // namespace ptl::ir
