#include "passes/transform/groups/grid_emitter.h"
#include "ir/dialect/attributes.h"

#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/make_grid.h"

using namespace mlir;

namespace ptl::ir {

/// The group that says how large the tiles of all are: the first of those whose results have most axes, and of these one that folds rows.
/// What is known of each row says nothing of how long rows are.
static OpGroup *leading(llvm::ArrayRef<OpGroup *> groups) {
  auto weightOf = [](OpGroup *group) {
    auto axes = llvm::count_if(extentsOf(group->root()->getResult(0).getType()),
                               [](const Extent &extent) { return !extent.isOne(); });
    return std::pair(axes, llvm::any_of(group->members(), isReduction));
  };
  return *std::max_element(groups.begin(), groups.end(),
                           [&](OpGroup *a, OpGroup *b) { return weightOf(a) < weightOf(b); });
}

GridEmitter::GridEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number)
    : groups_(groups), lead_(leading(groups)), group_(lead_), sizes_(sizes), number_(number),
      b_(lead_->root()->getContext()), loc_(lead_->root()->getLoc()) {}

/// Where the roots are stored; the builder is then where the grid goes: before the first of these,
/// so that everything that it needs is made before all of them.
llvm::SmallVector<GridEmitter::RootStores> GridEmitter::settle() {
  // A fused grid stands behind the last root, a single one where its root is stored.
  Operation *last = groups_.front()->root();
  for (OpGroup *group : groups_)
    if (last->isBeforeInBlock(group->root()))
      last = group->root();
  b_.setInsertionPointAfter(last);
  auto takesTiles = [&](Operation *user) {
    return llvm::any_of(groups_, [&](OpGroup *group) { return group->contains(user); });
  };
  std::vector<std::vector<RootStorage>> storages(groups_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    llvm::SmallVector<Value> results(groups_[i]->root()->getResults());
    for (Operation *member : groups_[i]->stored())
      results.push_back(member->getResult(0));
    for (Value result : results)
      storages[i].push_back(allocateFor(b_, result, takesTiles));
  }
  // Stores of several roots come together, behind all that they need, so that one grid can stand before them, and so
  // does one that others read what it has stored from.
  for (auto *bring : {&bringOperands, &bringStore})
    for (const std::vector<RootStorage> &ofRoot : storages)
      for (const RootStorage &storage : ofRoot)
        if (groups_.size() > 1 || ofRoot.size() > 1 || storage.isReadBack)
          bring(b_, storage);
  llvm::SmallVector<RootStores> stores(groups_.size());
  StoreOp first;
  for (size_t i = 0; i < groups_.size(); ++i)
    for (const RootStorage &storage : storages[i]) {
      StoreOp store = storeFor(b_, storage, takesTiles);
      stores[i].push_back(store);
      written_.push_back(store.getRef());
      if (!first || store->isBeforeInBlock(first))
        first = store;
    }
  b_.setInsertionPoint(first);
  return stores;
}

void GridEmitter::openGrid() {
  llvm::SmallVector<int64_t> ids = gridAxes();
  llvm::SmallVector<Value> upper, steps;
  for (int64_t id : ids) {
    upper.push_back(axis(id).length);
    steps.push_back(axis(id).stepValue ? axis(id).stepValue : constant(axis(id).step));
  }
  // A grid without axes still needs one point to run in.
  if (ids.empty()) {
    upper.push_back(constant(1));
    steps.push_back(constant(1));
  }
  grid_ = ir::openGrid(b_, loc_, upper, steps, positionLoc());
  takeMarks(grid_, lead_->root());
  mark(grid_);
  NamedAttrList scheduled;
  for (size_t i = 0; i < group_->numAxes(); ++i)
    if (auto id = static_cast<int64_t>(i);
        // Only sizes that the schedule gave are noted, for the check of its effects.
        group_->find(id) == id && scheduledStep(*group_, id) == axis(id).step)
      scheduled.set(lengthName(group_->axis(id).extent), b_.getI64IntegerAttr(axis(id).step));
  if (!scheduled.empty())
    attrs::tiled.set(grid_, scheduled.getDictionary(b_.getContext()));
  for (auto [i, id] : llvm::enumerate(ids))
    place(id, grid_.getBody().getArgument(static_cast<unsigned>(i)));
}

void GridEmitter::place(int64_t id, Value position) {
  TileAxis &own = axis(id);
  own.position = position;
  // Equal tiles need no minimum at the edge.
  if (hasEqualTiles(id)) {
    own.tile = constant(own.step);
    own.extent = isNamed(id) ? Extent::named(b_.getStringAttr(tileName(id)), own.step)
                             : Extent::constant(own.step);
    return;
  }
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, own.length, position);
  Value step = own.stepValue ? own.stepValue : constant(own.step);
  own.tile = b_.createOrFold<arith::MinSIOp>(loc_, rest, step);
  own.extent = Extent::named(b_.getStringAttr(tileName(id)), own.step);
}

GridEmitter::TileBox GridEmitter::boxOfTile(StoreOp into, const AxisMap &map) {
  TileBox box{llvm::SmallVector<Value>(into.getOffsets()),
              llvm::SmallVector<Value>(into.getLengths()),
              llvm::SmallVector<Value>(into.getSteps()),
              {}};
  size_t next = 0;
  // The store's box has all axes of memory; the root's map only those that are kept.
  for (size_t base = 0; base < box.offsets.size(); ++base) {
    bool isDropped = llvm::is_contained(into.getDropped(), static_cast<int64_t>(base));
    int64_t id = isDropped ? kWhole : map[next++];
    box.ids.push_back(id);
    if (id == kWhole)
      continue;
    Value shift = axis(id).position;
    if (!box.steps.empty())
      shift = b_.createOrFold<arith::MulIOp>(loc_, shift, box.steps[base]);
    box.offsets[base] = b_.createOrFold<arith::AddIOp>(loc_, box.offsets[base], shift);
    box.lengths[base] = axis(id).tile;
  }
  return box;
}

void GridEmitter::emit() {
  llvm::SmallVector<RootStores> stores = settle();
  chooseSizes(/*isFirst=*/true);
  emitCode(stores);
  for (const RootStores &ofRoot : stores)
    for (StoreOp store : ofRoot)
      store.erase();
}

void GridEmitter::emitGrid(llvm::ArrayRef<RootStores> stores) {
  openGrid();
  // The leading group's tiles are those of all groups that share the grid.
  std::vector<TileAxis> leading = axes_;
  AxisMap leadingMap = lead_->mapOf(lead_->root());
  for (size_t i = 0; i < groups_.size(); ++i) {
    group_ = groups_[i];
    loc_ = group_->root()->getLoc();
    if (group_ == lead_) {
      axes_ = leading;
    } else {
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPoint(grid_);
      // Each group has axes of its own, whose lengths are computed in front of the grid.
      chooseSizes(/*isFirst=*/false);
      AxisMap map = group_->mapOf(group_->root()); // the same tiles as the leading group
      for (auto [own, other] : llvm::zip(map, leadingMap))
        if (own != kWhole && other != kWhole)
          axis(own) = leading[static_cast<size_t>(other)];
    }
    emitGroup(stores[i]);
  }
  // Another grid of the same groups, in the other arm of a branch, begins with the leading one again.
  group_ = lead_;
  b_.create<YieldOp>(loc_);
}

} // namespace ptl::ir
