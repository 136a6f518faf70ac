// A group of tensor operations that one grid computes: the operations, the space of their axes, and
// the axes that each tile covers completely. A group grows from its root, the value that is stored,
// to the operations that compute it, as far as the limits of its target and the rules of soundness
// allow (`isSound`; those rules are the same for all targets).
#pragma once

#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/group_limits.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <vector>

namespace ptl::ir {

struct SpaceAxis {
  Extent extent;
  mlir::Value like; ///< its length is that of `axis` of this value
  int64_t axis = 0;
  bool isReduced = false; ///< some member reduces it, chunk by chunk
  bool isWhole = false;   ///< a tile covers it completely: contracted axes, scans
};

/// The axes of a space have numbers; several may denote one axis (`find`, a union-find structure).
/// In maps an axis that a tile covers completely is `kWhole` if the space is that of the root,
/// otherwise it keeps its number.
class OpGroup {
public:
  /// A tile covers what one along the axes `like` covers of the root, if there are any.
  OpGroup(mlir::Operation *root, const GroupLimits &limits, const AxisMap &like = {});

  mlir::Operation *root() const { return root_; }
  const GroupLimits &limits() const { return *limits_; }
  bool contains(mlir::Operation *op) const { return members_.count(op) != 0; }
  /// Adds an operation all of whose uses are in the group; false (with nothing changed) if it does
  /// not fit.
  bool tryJoin(mlir::Operation *op);
  /// Undoes the last addition, which must have succeeded.
  void takeBack();
  /// Folds the axes that a reduction folds, from which the member that was added last is computed element by element, or which is that member.
  void foldAxes(mlir::Operation *member, mlir::Operation *reduction);
  /// The root and the operations that joined it, users before operands.
  llvm::SmallVector<mlir::Operation *> members() const;
  bool hasProduct() const { return !products_.empty(); }
  /// Also stores the member that was added last, whose uses outside of the group load it then, until it is taken back.
  void store(mlir::Operation *member) { stored_.push_back(member); }
  /// The members that are stored beside the root.
  llvm::ArrayRef<mlir::Operation *> stored() const { return stored_; }
  /// Whether the root can be computed in tiles at all.
  bool isFeasible() const;

  size_t numAxes() const { return axes_.size(); }
  const SpaceAxis &axis(int64_t id) const { return axes_[static_cast<size_t>(id)]; }
  /// Axes of the space along which tiles are independent: axes of the root, in its order.
  llvm::SmallVector<int64_t> parallel() const;
  bool isParallel(int64_t id) const { return llvm::is_contained(parallel(), id); }
  /// Whether some product treats the positions along an axis as a batch of independent products.
  bool isBatch(int64_t id) const;
  AxisMap mapOf(mlir::Operation *member) const;
  AxisMap operandMap(mlir::Operation *member, unsigned operand) const;
  /// Axes of the space that a reduction reduces; extents of 1 do not count.
  llvm::SmallVector<int64_t> foldedBy(mlir::Operation *reduction) const;
  /// The representative of an axis of the space.
  int64_t find(int64_t id) const;

private:
  using Maps = llvm::SmallVector<AxisMap>;
  bool ownsAllAxes() const { return limits_->space == GroupLimits::Space::All; }

  // the space
  int64_t newAxis(mlir::Value like, int64_t axis);
  void keepWhole(int64_t id);
  bool unify(int64_t a, int64_t b);
  bool unify(const AxisMap &a, const AxisMap &b);
  int64_t resolved(int64_t id) const;
  AxisMap resolved(const AxisMap &map) const;

  // members
  bool add(mlir::Operation *op, const AxisMap &map);
  std::optional<Maps> operandMapsOf(mlir::Operation *op, const AxisMap &map);
  Maps scanMaps(mlir::Operation *scan, const AxisMap &map);
  void addFoldedAxes(mlir::Operation *reduction, AxisMap &operand);
  void addContractedAxis(mlir::Operation *product, Maps &operands);
  Access accessOf(mlir::Value value, const AxisMap &map) const;
  void use(mlir::Value value, const AxisMap &map);
  std::optional<AxisMap> mergedUses(llvm::ArrayRef<Access> uses);
  void shareWithEarlierUses(const Access &access);

  // rules
  bool isLoadedByProduct(mlir::Value value) const;
  bool runsAlongAxesOnce() const;
  bool isSound() const;

  mlir::Operation *root_;
  const GroupLimits *limits_;
  llvm::MapVector<mlir::Operation *, AxisMap> members_;
  llvm::DenseMap<mlir::Operation *, Maps> operands_;
  llvm::SmallVector<mlir::Operation *, 2> products_, scans_, stored_;  ///< among the members
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access, 2>> accesses_; ///< by origin
  llvm::SmallVector<Access, 4> newUses_; ///< of the member that is being added
  std::vector<SpaceAxis> axes_;
  std::vector<int64_t> parents_;
  std::vector<SpaceAxis> axesBefore_; ///< the space before the last addition
  std::vector<int64_t> parentsBefore_;
};

/// Whether the tiles of the root have each element of a member once: as elements of theirs, or as what is known of rows or columns that
/// they have whole. What joins later may change it.
bool storesOnce(const OpGroup &group, mlir::Operation *member);

/// The axes, except completely covered ones, of the value of a group that has most of them: the
/// last two are the rows and columns of tiles. If there is a product, it determines them.
AxisMap longestMap(const OpGroup &group);

} // namespace ptl::ir
