#include "passes/transform/groups/find_groups.h"
#include "ir/dialect/attributes.h"

#include "passes/analysis/op_info.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// The groups of one block.
class BlockGroups {
public:
  BlockGroups(Block &block, const GroupLimits &limits) : block_(block), limits_(limits) {}
  void find();
  /// Gives each group a copy of what several of them can make again; true if there was anything. Groups have
  /// to be found again then.
  bool makeAgain();
  /// In the order of the program.
  void emit(EmitGrid emitGrid, unsigned &number);
  void eraseDead();

private:
  bool collectUsers(Operation &op, OpGroup *&group) const;
  bool copyForGroups(Operation *op);
  std::vector<OpGroup *> fusedWith(OpGroup *group) const;
  bool isApart(llvm::ArrayRef<OpGroup *> fused, const OpGroup &other) const;

  Block &block_;
  const GroupLimits &limits_;
  std::vector<std::unique_ptr<OpGroup>> groups_; ///< in reverse program order
  llvm::DenseMap<Operation *, OpGroup *> groupOf_;
};

} // namespace

/// The group of all users, those of views that are looked through included; false if they are of
/// several, or some of none.
bool BlockGroups::collectUsers(Operation &op, OpGroup *&group) const {
  for (Operation *user : op.getUsers()) {
    OpGroup *own = groupOf_.lookup(user);
    // A view that is looked through has no group; its users decide.
    bool looksThrough = limits_.looksThroughViews && isView(user);
    // A user without a group needs the value as an array, and so does one of another group.
    if ((!own && !looksThrough) || (own && group && own != group))
      return false;
    if (own)
      group = own;
    if (looksThrough && !collectUsers(*user, group))
      return false;
  }
  return true;
}

void BlockGroups::find() {
  groups_.clear();
  groupOf_.clear();
  // Backwards, so that all users of an operation have been decided before it.
  for (Operation &op : llvm::reverse(block_)) {
    if (!limits_.isCandidate(&op) || op.use_empty())
      continue;
    OpGroup *group = nullptr;
    if (limits_.isMember(&op) && collectUsers(op, group) && group &&
        !keptApart(&op, group->root()) && group->tryJoin(&op)) {
      groupOf_[&op] = group;
      continue;
    }
    // Views and constants that nobody needs as arrays are made where they are used.
    if (!limits_.mustBeStored(&op))
      continue;
    groups_.push_back(std::make_unique<OpGroup>(&op, limits_));
    groupOf_[&op] = groups_.back().get();
  }
}

/// Groups that go on with the value element by element take a copy as a member of theirs.
bool BlockGroups::copyForGroups(Operation *op) {
  llvm::SmallVector<OpGroup *> users;
  for (Operation *user : op->getUsers())
    if (OpGroup *group = groupOf_.lookup(user); group && !llvm::is_contained(users, group))
      users.push_back(group);
  auto isOf = [&](Operation *user, OpGroup *group) { return groupOf_.lookup(user) == group; };
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  auto goesOn = [&](OpGroup *group) {
    return !keptApart(op, group->root()) && llvm::all_of(op->getUsers(), [&](Operation *user) {
      return !isOf(user, group) ||
             (isElementwise(user) && extentsOf(user->getResult(0).getType()) == extents);
    });
  };
  bool isCopied = false;
  for (OpGroup *group : users.size() > 1 ? users : llvm::SmallVector<OpGroup *>()) {
    if (!goesOn(group))
      continue;
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    op->replaceUsesWithIf(copy->getResults(),
                          [&](OpOperand &use) { return isOf(use.getOwner(), group); });
    isCopied = true;
  }
  return isCopied;
}

bool BlockGroups::makeAgain() {
  bool isCopied = false;
  if (limits_.isMadeAgain)
    for (const auto &group : groups_)
      if (Operation *op = group->root(); limits_.isMadeAgain(op) && copyForGroups(op)) {
        isCopied = true;
        if (op->use_empty()) {
          groupOf_.erase(op);
          op->erase();
        }
      }
  return isCopied;
}

/// Whether two groups can share a grid: the same tiles along the same lengths. Tiles that are
/// matrices have to be those of products, or the same positions one by one.
static bool haveSameTiles(const OpGroup &a, const OpGroup &b) {
  bool areMatrices = a.limits().tilesAreMatrices;
  AxisMap own = a.mapOf(a.root()), other = b.mapOf(b.root());
  // A grid of products and one of other tiles have different sizes.
  if (areMatrices && (own.size() != other.size() || a.hasProduct() != b.hasProduct()))
    return false;
  size_t rank = std::max(own.size(), other.size());
  // Groups of different rank compare with whole axes added.
  own.resize(rank, kWhole);
  other.resize(rank, kWhole);
  return llvm::all_of(llvm::zip(own, other), [&](auto pair) {
    auto [left, right] = pair;
    if (left == kWhole || right == kWhole)
      return left == right;
    return a.isParallel(left) == b.isParallel(right) &&
           (!areMatrices || a.isBatch(left) == b.isBatch(right)) &&
           sameLength(a.axis(left).extent, b.axis(right).extent);
  });
}

/// What the groups that `fuse` joins have in common; null: nothing is said of this one.
static Attribute fuseLabel(const OpGroup &group) {
  for (Operation *member : group.members())
    if (Attribute label = attrs::fuse.of(member))
      return label;
  return {};
}

/// Whether something between needs what one of the groups stores, and comes before the root of the
/// other.
// Something that needs a stored value in the middle would keep the grids from being one.
bool BlockGroups::isApart(llvm::ArrayRef<OpGroup *> fused, const OpGroup &other) const {
  return llvm::any_of(fused, [&](OpGroup *earlier) {
    return llvm::any_of(earlier->root()->getUsers(), [&](Operation *user) {
      Operation *inBlock = block_.findAncestorOpInBlock(*user);
      return !earlier->contains(user) && user != onlyStore(earlier->root()) && inBlock &&
             (inBlock == other.root() || inBlock->isBeforeInBlock(other.root()));
    });
  });
}

/// The group, and those behind it that a schedule fuses with it and that nothing in between keeps
/// apart.
std::vector<OpGroup *> BlockGroups::fusedWith(OpGroup *group) const {
  std::vector<OpGroup *> fused{group};
  Attribute label = fuseLabel(*group);
  if (!label || group->root()->getNumResults() != 1)
    return fused;
  for (const auto &other : llvm::reverse(groups_)) {
    if (other.get() == group || fuseLabel(*other) != label || !other->isFeasible() ||
        other->root()->getNumResults() != 1 || !haveSameTiles(*group, *other) ||
        // The order of the program decides which one comes first.
        !group->root()->isBeforeInBlock(other->root()))
      continue;
    // The stores move behind the last root, which is only right if nothing reads them before.
    auto maySettle = [&](OpGroup *each) {
      return mayStoreBehind(each->root()->getResult(0), other->root());
    };
    if (!isApart(fused, *other) && llvm::all_of(fused, maySettle) && maySettle(other.get()))
      fused.push_back(other.get());
  }
  return fused;
}

/// What fuses is asked for each group when its turn comes: grids that have been made are in between.
void BlockGroups::emit(EmitGrid emitGrid, unsigned &number) {
  llvm::DenseSet<OpGroup *> done;
  // Groups are kept in reverse, so this is the order of the program.
  for (const auto &group : llvm::reverse(groups_)) {
    if (!group->isFeasible() || done.count(group.get()))
      continue;
    std::vector<OpGroup *> fused = fusedWith(group.get());
    done.insert(fused.begin(), fused.end());
    emitGrid(fused, number++);
  }
}

/// What only the grids' copies replaced is dead now.
void BlockGroups::eraseDead() {
  // Backwards, so that users go before what they use.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block_)))
    if (limits_.isCandidate(&op) && op.use_empty())
      op.erase();
}

void makeGrids(func::FuncOp function, const GroupLimits &limits, EmitGrid emitGrid) {
  llvm::SmallVector<Block *> blocks;
  // Bodies of grids are tiles already.
  function->walk([&](Block *block) {
    if (!block->getParentOp()->getParentOfType<ParallelOp>() &&
        !isa<ParallelOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  unsigned number = 0;
  for (Block *block : blocks) {
    BlockGroups groups(*block, limits);
    groups.find();
    // What was stored once may be what the copies are made of.
    while (groups.makeAgain())
      groups.find();
    groups.emit(emitGrid, number);
    groups.eraseDead();
  }
}

} // namespace ptl::ir
