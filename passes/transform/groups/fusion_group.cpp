#include "passes/transform/groups/fusion_group.h"

#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::ir {

bool isViewLike(Operation *op) {
  if (isa<CastOp, NewAxisOp, SliceOp>(op))
    return true;
  const OpRecord *record = recordOf(op);
  return record && (record->opClass == OpClass::Creation || record->id == OpId::Transpose ||
                    record->id == OpId::Broadcast);
}

bool isExpensive(Operation *op) {
  const OpRecord *record = recordOf(op);
  if (!record)
    return false;
  return record->opClass == OpClass::Reduction || record->opClass == OpClass::Product ||
         record->opClass == OpClass::Scan || record->opClass == OpClass::Sort;
}

/// Axes of the result along which the operation needs its operands whole and its result at once.
static llvm::SmallVector<int64_t> blockedAxes(Operation *op) {
  const OpRecord *record = recordOf(op);
  if (!record || (record->opClass != OpClass::Scan && record->opClass != OpClass::Sort))
    return {};
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return {axis ? axis.getInt() : rankOf(op->getResult(0).getType()) - 1};
}

/// Axes that a reduction folds, counted from the end.
static llvm::SmallVector<int64_t> foldedAxes(Operation *op) {
  const OpRecord *record = recordOf(op);
  if (!record || record->opClass != OpClass::Reduction)
    return {};
  int64_t rank = rankOf(op->getOperand(0).getType());
  llvm::SmallVector<int64_t> folded;
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    for (int64_t axis : axes.asArrayRef())
      folded.push_back(axis - rank);
  else if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    folded.push_back(axis.getInt() - rank);
  return folded;
}

static void drop(llvm::SmallVectorImpl<int64_t> &parallel, int64_t axis) {
  llvm::erase(parallel, axis);
}

FusionGroup::FusionGroup(Operation *root) : root_(root) {
  llvm::ArrayRef<Extent> extents = extentsOf(root->getResult(0).getType());
  AxisMap map;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    map.push_back(static_cast<int64_t>(axis));
    if (!extent.isOne())
      parallel_.push_back(static_cast<int64_t>(axis));
  }
  for (int64_t axis : blockedAxes(root))
    drop(parallel_, axis);
  members_[root] = map;
  const OpRecord *record = recordOf(root);
  hasProduct_ = record && record->id == OpId::Matmul;
  if (!operandAxes(root, restrict(map, parallel_)))
    parallel_.clear();
}

llvm::SmallVector<Operation *> FusionGroup::members() const {
  llvm::SmallVector<Operation *> all;
  for (const auto &[op, map] : members_)
    all.push_back(op);
  return all;
}

AxisMap FusionGroup::restrict(const AxisMap &map, llvm::ArrayRef<int64_t> parallel) const {
  AxisMap restricted = map;
  for (int64_t &axis : restricted)
    if (!llvm::is_contained(parallel, axis))
      axis = kWhole;
  return restricted;
}

AxisMap FusionGroup::mapOf(Operation *member) const {
  return restrict(members_.find(member)->second, parallel_);
}

AxisMap FusionGroup::operandMap(Operation *member, unsigned operand) const {
  return (*operandAxes(member, mapOf(member)))[operand];
}

/// The one map under which all members use `op`. Where two disagree, the axes in question stop
/// being parallel.
std::optional<AxisMap> FusionGroup::mergedUse(Operation *op,
                                              llvm::SmallVectorImpl<int64_t> &parallel) const {
  std::optional<AxisMap> merged;
  for (OpOperand &use : op->getResult(0).getUses()) {
    const AxisMap &user = members_.find(use.getOwner())->second;
    auto maps = operandAxes(use.getOwner(), restrict(user, parallel));
    if (!maps || use.getOperandNumber() >= maps->size())
      return std::nullopt;
    const AxisMap &map = (*maps)[use.getOperandNumber()];
    if (!merged) {
      merged = map;
      continue;
    }
    for (size_t axis = 0; axis < map.size(); ++axis) {
      int64_t &own = (*merged)[axis];
      if (own == map[axis])
        continue;
      drop(parallel, own);
      drop(parallel, map[axis]);
      own = kWhole;
    }
  }
  return merged;
}

/// Removes the axes along which `op` cannot be computed in parts; false when it would be computed
/// again for each tile.
bool FusionGroup::shrink(Operation *op, const AxisMap &map,
                         llvm::SmallVectorImpl<int64_t> &parallel) const {
  int64_t rootRank = rankOf(root_->getResult(0).getType());
  for (int64_t axis : blockedAxes(op))
    drop(parallel, map[static_cast<size_t>(axis)]);
  for (int64_t axis : foldedAxes(op))
    drop(parallel, rootRank + axis);
  if (!isExpensive(op))
    return true;
  return llvm::all_of(parallel, [&](int64_t axis) { return llvm::is_contained(map, axis); });
}

/// A group of more is not faster, and its tile is computed by recursion.
static constexpr size_t kMostMembers = 1000;

bool FusionGroup::tryJoin(Operation *op) {
  if (members_.size() >= kMostMembers)
    return false;
  llvm::SmallVector<int64_t> parallel = parallel_;
  std::optional<AxisMap> map = mergedUse(op, parallel);
  if (!map || !shrink(op, *map, parallel) || parallel.empty())
    return false;
  if (!operandAxes(op, restrict(*map, parallel)))
    return false;
  // The other members must stand the smaller set of axes; they do: fewer mapped axes ask for less.
  parallel_ = std::move(parallel);
  members_[op] = *map;
  const OpRecord *record = recordOf(op);
  hasProduct_ |= record && record->id == OpId::Matmul;
  return true;
}

} // namespace ptl::ir
