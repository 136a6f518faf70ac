#include "passes/transform/groups/find_groups.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/fold.h"

#include "passes/analysis/op_info.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/groups/shared_grid.h"

#include "llvm/ADT/EquivalenceClasses.h"

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
  using Groups = llvm::SmallVector<OpGroup *, 4>;

  void findOnce();
  bool keepApart();
  bool collectUsers(Operation &op, Groups &groups) const;
  bool joinsUsers(Operation &op, llvm::ArrayRef<OpGroup *> users);
  bool join(Operation *op, llvm::ArrayRef<OpGroup *> groups, OpGroup *own);
  void shareWithUsers(Operation &op, llvm::ArrayRef<OpGroup *> users, OpGroup *own);
  bool storeInGroup(Operation &op, llvm::ArrayRef<OpGroup *> users);
  void shareReads();
  Groups allWith(llvm::ArrayRef<OpGroup *> groups) const;
  bool mayShare(llvm::ArrayRef<OpGroup *> groups) const;
  bool mayShareFolded(Operation *op, llvm::ArrayRef<OpGroup *> groups,
                      llvm::ArrayRef<OpGroup *> all) const;
  bool areSeparate(llvm::ArrayRef<OpGroup *> groups, OpGroup *joining = nullptr) const;
  bool isOf(Operation *op, OpGroup *group) const;
  Operation *firstUserIn(Operation *op, OpGroup *group) const;
  bool copyForGroups(Operation *op, bool forAll);
  std::vector<OpGroup *> fusedWith(OpGroup *group) const;
  std::vector<OpGroup *> sharingWith(OpGroup *group) const;
  bool isApart(llvm::ArrayRef<OpGroup *> fused, const OpGroup &other) const;

  Block &block_;
  const GroupLimits &limits_;
  std::vector<std::unique_ptr<OpGroup>> groups_; ///< in reverse program order
  llvm::DenseMap<Operation *, Groups> groupsOf_; ///< several where these share a grid
  llvm::EquivalenceClasses<OpGroup *> sharing_;  ///< those that share a grid with another one
  llvm::DenseSet<Operation *> apart_;            ///< what no group can store with its own result
};

} // namespace

bool BlockGroups::isOf(Operation *op, OpGroup *group) const {
  auto found = groupsOf_.find(op);
  return found != groupsOf_.end() && llvm::is_contained(found->second, group);
}

/// The groups of all users, those of views that are looked through included; false if some user is of none.
bool BlockGroups::collectUsers(Operation &op, Groups &groups) const {
  bool isComplete = true;
  for (Operation *user : op.getUsers()) {
    auto own = groupsOf_.find(user);
    // A view that is looked through has no group; its users decide.
    bool looksThrough = limits_.looksThroughViews && isView(user);
    if (own == groupsOf_.end() && !looksThrough)
      isComplete = false;
    if (own != groupsOf_.end())
      for (OpGroup *group : own->second)
        if (!llvm::is_contained(groups, group))
          groups.push_back(group);
    if (looksThrough && !collectUsers(*user, groups))
      isComplete = false;
  }
  return isComplete;
}

/// These groups and all that share a grid with one of them.
BlockGroups::Groups BlockGroups::allWith(llvm::ArrayRef<OpGroup *> groups) const {
  Groups all;
  auto add = [&](OpGroup *group) {
    if (!llvm::is_contained(all, group))
      all.push_back(group);
  };
  for (OpGroup *group : groups) {
    add(group);
    for (auto member = sharing_.findLeader(group); member != sharing_.member_end(); ++member)
      add(*member);
  }
  return all;
}

/// Whether the roots are stored in arrays of their own.
static bool storeApart(llvm::ArrayRef<OpGroup *> groups) {
  llvm::DenseSet<Value> arrays;
  return llvm::all_of(groups, [&](OpGroup *group) {
    StoreOp store = storeToReadBack(group->root()->getResult(0), [&](Operation *user) {
      return llvm::any_of(groups, [&](OpGroup *other) { return other->contains(user); });
    });
    return !store || arrays.insert(store.getRef()).second;
  });
}

bool BlockGroups::mayShare(llvm::ArrayRef<OpGroup *> groups) const {
  return llvm::all_of(
             groups,
             [&](OpGroup *group) { return llvm::all_of(group->members(), limits_.sharesGrid); }) &&
         (limits_.sharesArrays || storeApart(groups)) && mayShareGrid(groups);
}

/// How far behind a value a reduction is looked for.
static constexpr int kMostSteps = 16;

/// The reduction that a value is computed from, element by element; null: none that is near.
static Operation *foldBehind(Operation *op, int steps) {
  if (!op || isReduction(op) || steps == 0 || !(isElementwise(op) || isView(op)))
    return op && isReduction(op) ? op : nullptr;
  for (Value operand : op->getOperands())
    if (isa<ArrayType>(operand.getType()))
      if (Operation *fold = foldBehind(operand.getDefiningOp(), steps - 1))
        return fold;
  return nullptr;
}

/// Whether `all` may share a grid, of which `groups` have taken `op`. What this is folded from will be folded in these groups, too, which makes rows
/// whole in all of them; before that those that compute rows have other tiles than those that keep something of each row.
bool BlockGroups::mayShareFolded(Operation *op, llvm::ArrayRef<OpGroup *> groups,
                                 llvm::ArrayRef<OpGroup *> all) const {
  if (mayShare(all))
    return true;
  Operation *fold = foldBehind(op, kMostSteps);
  if (!fold)
    return false;
  for (OpGroup *group : groups)
    group->foldAxes(op, fold);
  return mayShare(all);
}

/// Adds an operation to all of these groups, which share a grid then, with `own` too where it is not null; false, with nothing changed, if
/// one of them does not take it, or if they have no grid in common with it.
bool BlockGroups::join(Operation *op, llvm::ArrayRef<OpGroup *> groups, OpGroup *own) {
  Groups joined;
  bool isJoined = llvm::all_of(groups, [&](OpGroup *group) {
    bool joins = !keptApart(op, group->root()) && group->tryJoin(op);
    if (joins)
      joined.push_back(group);
    return joins;
  });
  Groups all = allWith(groups);
  if (own) {
    all.push_back(own);
    // Its own tiles may as well have rows whole, where the others fold these.
    if (isJoined && !groups.empty())
      *own = OpGroup(op, limits_, groups.front()->mapOf(op));
  }
  // One group for itself has the tiles that it likes.
  if (isJoined && all.size() > 1 && !limits_.sharesGrid(op))
    isJoined = false;
  if (isJoined && all.size() > 1) {
    // The tile that several groups share must lie along the same axes for all of them.
    AxisMap map = groups.front()->mapOf(op);
    isJoined = llvm::all_of(groups, [&](OpGroup *group) { return group->mapOf(op) == map; }) &&
               (!own || own->mapOf(op) == map) && mayShareFolded(op, groups, all) &&
               areSeparate(all, own);
  }
  if (!isJoined) {
    for (OpGroup *group : joined)
      group->takeBack();
    if (own)
      *own = OpGroup(op, limits_);
    return false;
  }
  if (all.size() > 1)
    for (OpGroup *group : all)
      sharing_.unionSets(all.front(), group);
  return true;
}

/// Whether an operation all of whose users are in groups is computed with them.
bool BlockGroups::joinsUsers(Operation &op, llvm::ArrayRef<OpGroup *> users) {
  if (!limits_.isMember(&op) || users.empty())
    return false;
  // What is no work is made anew for each grid.
  bool mayShare = limits_.sharesGrid(&op) && !isFill(&op) && !isProduct(&op);
  // Each grid has its own copy of what costs nothing, and one with a product has the tiles of that.
  if (users.size() > 1 && !mayShare)
    return false;
  if (!join(&op, users, nullptr))
    return false;
  groupsOf_[&op] = Groups(users.begin(), users.end());
  return true;
}

/// Whether a value of these extents is as large as another one, or has single positions along some of its axes, as what is known of rows has
/// beside what is made of them.
static bool isPartOf(llvm::ArrayRef<Extent> own, llvm::ArrayRef<Extent> all) {
  return own.size() == all.size() && llvm::all_of(llvm::zip(own, all), [](auto pair) {
           return std::get<0>(pair).isOne() || std::get<0>(pair) == std::get<1>(pair);
         });
}

/// What is stored anyway is a tile for those that share its grid: for all of its users or, where some have other tiles, as sums of columns
/// beside a function of rows have, for those whose results have its shape or go on by its rows; the others read what the grid has stored.
void BlockGroups::shareWithUsers(Operation &op, llvm::ArrayRef<OpGroup *> users, OpGroup *own) {
  if (join(&op, users, own)) {
    groupsOf_[&op].append(users.begin(), users.end());
    return;
  }
  llvm::ArrayRef<Extent> extents = extentsOf(op.getResult(0).getType());
  auto joinThose = [&](auto isOne) {
    Groups some;
    llvm::copy_if(users, std::back_inserter(some), [&](OpGroup *group) {
      return isOne(extentsOf(group->root()->getResult(0).getType()));
    });
    bool isForSome = limits_.sharesWithSome && !some.empty() && some.size() < users.size();
    if (!isForSome || !join(&op, some, own))
      return false;
    groupsOf_[&op].append(some);
    return true;
  };
  if (!joinThose([&](llvm::ArrayRef<Extent> all) { return isPartOf(extents, all); }))
    joinThose([&](llvm::ArrayRef<Extent> all) { return extents == all; });
}

/// Whether a group may store a member that is folded from rows: an element of each tile, or what is known of each row, where rows are enough
/// for all cores. Else these would wait for a few that have rows whole, as a grid of its own for what is made of their elements does not.
static bool mayBeStored(const OpGroup &group, Operation *member) {
  // What is folded from will join, too, which makes rows whole.
  if (!foldBehind(member, kMostSteps))
    return false;
  if (group.mapOf(member) == group.mapOf(group.root()))
    return true;
  constexpr int64_t kManyRows = 512;
  int64_t rows = 1;
  for (const Extent &extent : extentsOf(member->getResult(0).getType()))
    rows *= extent.isConstant() ? extent.length : 1;
  return rows >= kManyRows;
}

/// Has a group that needs a value, other than from memory, store it with its own result, so that its grid reads once what both are computed
/// from, as the scale of each row and the numbers that are divided by it. Other groups read what it has stored.
bool BlockGroups::storeInGroup(Operation &op, llvm::ArrayRef<OpGroup *> users) {
  if (!isTiled(&op) || op.getNumResults() != 1 || isInSchedule(&op) || apart_.contains(&op) ||
      !(isReduction(&op) || limits_.sharesGrid(&op)))
    return false;
  auto takes = [&](OpGroup *group) {
    if (keptApart(&op, group->root()) || isInSchedule(group->root()) || isScan(group->root()) ||
        !isTiled(group->root()) || group->root()->getNumResults() != 1 ||
        sharing_.findLeader(group) != sharing_.member_end() || !group->tryJoin(&op))
      return false;
    group->store(&op);
    if (mayBeStored(*group, &op) && maySettleTogether(group))
      return true;
    group->takeBack();
    return false;
  };
  for (OpGroup *group : users)
    if (takes(group)) {
      groupsOf_[&op] = {group};
      return true;
    }
  return false;
}

/// Notes the members that are stored of which the tiles of their groups turned out not to have each element once; true if there are any.
bool BlockGroups::keepApart() {
  bool isChanged = false;
  for (const auto &group : groups_)
    for (Operation *member : group->stored())
      if (!storesOnce(*group, member))
        isChanged |= apart_.insert(member).second;
  return isChanged;
}

void BlockGroups::find() {
  do
    findOnce();
  while (keepApart());
}

void BlockGroups::findOnce() {
  groups_.clear();
  groupsOf_.clear();
  sharing_ = {};
  // Backwards, so that all users of an operation have been decided before it.
  for (Operation &op : llvm::reverse(block_)) {
    if (!limits_.isCandidate(&op) || op.use_empty())
      continue;
    Groups users;
    if (collectUsers(op, users) && joinsUsers(op, users))
      continue;
    // Views and constants that nobody needs as arrays are made where they are used.
    if (!limits_.mustBeStored(&op))
      continue;
    if (limits_.storesMembers && storeInGroup(op, users))
      continue;
    groups_.push_back(std::make_unique<OpGroup>(&op, limits_));
    OpGroup *own = groups_.back().get();
    groupsOf_[&op] = {own};
    bool mayShare = limits_.sharesGrid(&op) && (isTiled(&op) || dropsFromTiles(&op)) &&
                    !isProduct(&op) && !users.empty();
    if (mayShare)
      shareWithUsers(op, users, own);
  }
  shareReads();
}

/// Whether both groups read the same tiles of an array that none of them computes.
static bool readTheSame(const OpGroup &a, const OpGroup &b) {
  llvm::SmallVector<std::pair<Value, AxisMap>> reads;
  auto visit = [&](const OpGroup &group, auto see) {
    llvm::SmallVector<int64_t> parallel = group.parallel();
    return llvm::any_of(group.members(), [&](Operation *member) {
      return llvm::any_of(member->getOpOperands(), [&](OpOperand &use) {
        Operation *made = use.get().getDefiningOp();
        if (!isa<ArrayType>(use.get().getType()) ||
            (made && (isFill(made) || group.contains(made))))
          return false;
        AxisMap map = group.operandMap(member, use.getOperandNumber());
        // What each tile reads whole is in a cache anyway.
        return llvm::all_of(parallel, [&](int64_t id) { return llvm::is_contained(map, id); }) &&
               see(use.get(), map);
      });
    });
  };
  visit(a, [&](Value value, const AxisMap &map) {
    reads.push_back({value, map});
    return false;
  });
  return visit(b, [&](Value value, const AxisMap &map) {
    return llvm::is_contained(reads, std::pair(value, map));
  });
}

/// More groups would be more streams than a processor keeps up with.
static constexpr size_t kMostSharing = 4;

/// Whether none of the groups needs from memory what another one stores, which a grid for both would not have
/// stored yet. The root of `joining` becomes a member of those that need it.
bool BlockGroups::areSeparate(llvm::ArrayRef<OpGroup *> groups, OpGroup *joining) const {
  return llvm::all_of(groups, [&](OpGroup *made) {
    if (made == joining)
      return true;
    Groups readers;
    collectUsers(*made->root(), readers);
    return llvm::none_of(readers, [&](OpGroup *reader) {
      return reader != made && llvm::is_contained(groups, reader) && !isOf(made->root(), reader);
    });
  });
}

/// Groups that follow each other and read the same arrays share a grid, so that these are read from memory once.
void BlockGroups::shareReads() {
  // Groups are in reverse order of the program, so `first` is the earlier of two neighbours.
  for (size_t next = groups_.size(); next > 1; --next) {
    OpGroup *first = groups_[next - 1].get(), *second = groups_[next - 2].get();
    Groups all = allWith({first, second});
    bool isWorthIt = llvm::all_of(
        all, [&](OpGroup *group) { return llvm::all_of(group->members(), limits_.sharesReads); });
    if (first->isFeasible() && second->isFeasible() && all.size() <= kMostSharing && isWorthIt &&
        areSeparate(all) && mayShare(all) && readTheSame(*first, *second))
      sharing_.unionSets(first, second);
  }
}

/// The first user in the program that is a member of the group; null: none.
Operation *BlockGroups::firstUserIn(Operation *op, OpGroup *group) const {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (isOf(user, group) && (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

/// Groups that go on with the value element by element take a copy as a member of theirs; `forAll`: all of them, those that fold it too, or
/// none.
bool BlockGroups::copyForGroups(Operation *op, bool forAll) {
  llvm::SmallVector<OpGroup *> users;
  for (Operation *user : op->getUsers())
    for (OpGroup *group : groupsOf_.lookup(user))
      // A user in several groups counts for each of them.
      if (!llvm::is_contained(users, group))
        users.push_back(group);
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  auto goesOn = [&](OpGroup *group) {
    return !keptApart(op, group->root()) && llvm::all_of(op->getUsers(), [&](Operation *user) {
      return !isOf(user, group) ||
             (isElementwise(user) && extentsOf(user->getResult(0).getType()) == extents) ||
             (forAll && isReduction(user));
    });
  };
  auto isInGroup = [&](Operation *user) { return groupsOf_.contains(user); };
  if (forAll && !(llvm::all_of(op->getUsers(), isInGroup) && llvm::all_of(users, goesOn)))
    return false;
  bool isCopied = false;
  for (OpGroup *group : users.size() > 1 ? users : llvm::SmallVector<OpGroup *>()) {
    if (!goesOn(group))
      continue;
    // Users that are in several groups have the copy for the first of these.
    Operation *first = firstUserIn(op, group);
    if (!first)
      continue;
    // What it is made of is needed where the group needs it, not before.
    Operation *copy = OpBuilder(first).clone(*op);
    op->replaceUsesWithIf(copy->getResults(),
                          [&](OpOperand &use) { return isOf(use.getOwner(), group); });
    isCopied = true;
  }
  return isCopied;
}

bool BlockGroups::makeAgain() {
  bool isCopied = false;
  if (limits_.isMadeAgain || limits_.isMadeByAll)
    for (const auto &group : groups_)
      if (Operation *op = group->root();
          (limits_.isMadeAgain && limits_.isMadeAgain(op) && copyForGroups(op, /*forAll=*/false)) ||
          (limits_.isMadeByAll && limits_.isMadeByAll(op) && copyForGroups(op, /*forAll=*/true))) {
        isCopied = true;
        if (op->use_empty()) {
          // Another operation may get the same address.
          groupsOf_.erase(op);
          apart_.erase(op);
          op->erase();
        }
      }
  return isCopied;
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

/// The group, and those that share a grid with it; no others where what was made since keeps them apart.
std::vector<OpGroup *> BlockGroups::sharingWith(OpGroup *group) const {
  Groups all = allWith(group);
  sortByRoots(all);
  if (all.size() == 1 || !mayShareGrid(all))
    return {group};
  return {all.begin(), all.end()};
}

/// What fuses is asked for each group when its turn comes: grids that have been made are in between.
void BlockGroups::emit(EmitGrid emitGrid, unsigned &number) {
  llvm::DenseSet<OpGroup *> done;
  // Groups are kept in reverse, so this is the order of the program.
  for (const auto &group : llvm::reverse(groups_)) {
    if (!group->isFeasible() || done.count(group.get()))
      continue;
    std::vector<OpGroup *> fused = sharingWith(group.get());
    if (fused.size() == 1)
      fused = fusedWith(group.get());
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
  // Tiles of a grid that the author has written are not divided further, nor are the single elements that a fold combines.
  function->walk([&](Block *block) {
    if (!isa<FoldOp>(block->getParentOp()) &&
        !block->getParentOp()->getParentOfType<ParallelOp>() &&
        !isa<ParallelOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  unsigned number = 0;
  for (Block *block : blocks) {
    BlockGroups groups(*block, limits);
    groups.find();
    // What was stored once may be what the copies are made of.
    while (groups.makeAgain())
      // A copy may give a value that was stored a single user, and with it another way to group, so groups are found anew until nothing is
      // copied.
      groups.find();
    groups.emit(emitGrid, number);
    groups.eraseDead();
  }
}

} // namespace ptl::ir
