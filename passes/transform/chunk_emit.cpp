#include "passes/transform/chunk_emit.h"
#include "ir/dialect/attributes.h"
#include "passes/transform/combiners.h"

#include "passes/transform/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

/// The axis stands at this position: how much of it is there.
void ChunkEmitter::place(int64_t id, Value position) {
  ChunkAxis &own = axis(id);
  const Extent &whole = group_->axis(id).extent;
  own.position = position;
  if (own.step == 1 || (whole.isConstant() && whole.length % own.step == 0)) {
    own.tile = constant(own.step);
    own.extent = Extent::constant(own.step);
    return;
  }
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, own.length, position);
  own.tile = b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(own.step));
  // Each loop has names of its own, so that a name is one length wherever it is seen.
  std::string name = "t" + std::to_string(number_) + "." + std::to_string(names_++);
  own.extent = Extent::named(b_.getStringAttr(name), own.step);
}

void ChunkEmitter::openGrid() {
  Loops ids = chunked(group_->parallel());
  llvm::SmallVector<Value> lower, upper, steps;
  for (int64_t id : ids) {
    lower.push_back(constant(0));
    upper.push_back(axis(id).length);
    steps.push_back(constant(axis(id).step));
  }
  if (ids.empty()) {
    lower.push_back(constant(0));
    upper.push_back(constant(1));
    steps.push_back(constant(1));
  }
  auto grid = b_.create<ParallelOp>(loc_, lower, upper, steps);
  takeMarks(grid, groups_.front()->root());
  attrs::tileGroup.set(grid, number_ + 1);
  NamedAttrList scheduled;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (auto id = static_cast<int64_t>(i);
        group_->find(id) == id && scheduledStep(*group_, id) == axis(id).step)
      scheduled.set(lengthName(group_->axis(id).extent), b_.getI64IntegerAttr(axis(id).step));
  if (!scheduled.empty())
    attrs::tiled.set(grid, scheduled.getDictionary(b_.getContext()));
  gridOp_ = grid;
  llvm::SmallVector<Type> types(lower.size(), b_.getIndexType());
  llvm::SmallVector<Location> locs(lower.size(), loc_);
  Block *body = b_.createBlock(&grid.getBody(), {}, types, locs);
  for (auto [i, id] : llvm::enumerate(ids))
    place(id, body->getArgument(static_cast<unsigned>(i)));
}

ChunkEmitter::Loops ChunkEmitter::chunked(llvm::ArrayRef<int64_t> ids) const {
  Loops loops;
  for (int64_t id : ids)
    if (id != kWhole && axis(id).isChunked)
      loops.push_back(id);
  return loops;
}

/// A nest of loops along these axes; the innermost one loads ahead.
void ChunkEmitter::inLoops(llvm::ArrayRef<int64_t> ids, ValueRange carried,
                           llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> body,
                           llvm::SmallVectorImpl<Value> &results) {
  if (ids.empty()) {
    llvm::SmallVector<Value> made = body(carried);
    results.assign(made.begin(), made.end());
    return;
  }
  int64_t id = ids.front();
  auto loop =
      b_.create<scf::ForOp>(loc_, constant(0), axis(id).length, constant(axis(id).step), carried);
  if (ids.size() == 1)
    attrs::pipeline.set(loop, 2);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    members_.emplace_back();
    operands_.emplace_back();
    place(id, loop.getInductionVar());
    llvm::SmallVector<Value> inner;
    inLoops(ids.drop_front(), loop.getRegionIterArgs(), body, inner);
    if (!inner.empty())
      b_.create<scf::YieldOp>(loc_, inner);
    members_.pop_back();
    operands_.pop_back();
  }
  axis(id).position = axis(id).tile = {};
  results.assign(loop.getResults().begin(), loop.getResults().end());
}

/// Computes before the loops what does not change in them.
void ChunkEmitter::hoist(Operation *op, llvm::ArrayRef<int64_t> ids,
                         llvm::DenseSet<Operation *> &seen) {
  if (!seen.insert(op).second || !isTiled(op))
    return;
  auto changes = [&](const AxisMap &map) {
    return llvm::any_of(map, [&](int64_t id) { return llvm::is_contained(ids, group_->find(id)); });
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<ArrayType>(operand.getType()) || isProduct(op))
      continue;
    auto number = static_cast<unsigned>(i);
    Access access = originOf(operand, group_->operandMap(op, number));
    Operation *origin = access.origin.getDefiningOp();
    bool isMember = origin && group_->contains(origin);
    if (!changes(isMember ? group_->mapOf(origin) : access.map()))
      operandTile(op, number);
    else if (isMember)
      hoist(origin, ids, seen);
  }
}

/// Steps of the group: a reduction comes one step after those that its operand needs.
static int64_t levelOf(Operation *op, const ChunkGroup &group,
                       llvm::DenseMap<Operation *, int64_t> &levels) {
  if (auto known = levels.find(op); known != levels.end())
    return known->second;
  int64_t level = 0;
  for (Value operand : op->getOperands()) {
    if (!isa<ArrayType>(operand.getType()))
      continue;
    AxisMap all(static_cast<size_t>(rankOf(operand.getType())), kWhole);
    Operation *origin = originOf(operand, all).origin.getDefiningOp();
    if (origin && origin != op && group.contains(origin))
      level = std::max(level, levelOf(origin, group, levels) + (isReduction(origin) ? 1 : 0));
  }
  return levels[op] = level;
}

void ChunkEmitter::emitReductions() {
  llvm::DenseMap<Operation *, int64_t> levels;
  llvm::SmallVector<Operation *> waiting;
  for (Operation *op : group_->members())
    if (isReduction(op))
      waiting.insert(waiting.begin(), op); // in the order of the program
  for (int64_t level = 0; !waiting.empty(); ++level) {
    llvm::SmallVector<Operation *> ready;
    llvm::copy_if(waiting, std::back_inserter(ready),
                  [&](Operation *op) { return levelOf(op, *group_, levels) == level; });
    llvm::erase_if(waiting, [&](Operation *op) { return levelOf(op, *group_, levels) == level; });
    while (!ready.empty()) { // those along the same axes share their loops
      Loops ids = chunked(group_->foldedBy(ready.front()));
      auto alike = [&](Operation *op) { return chunked(group_->foldedBy(op)) == ids; };
      llvm::SmallVector<Operation *> together;
      llvm::copy_if(ready, std::back_inserter(together), alike);
      llvm::erase_if(ready, alike);
      reduceTogether(together);
    }
  }
}

void ChunkEmitter::reduceTogether(llvm::ArrayRef<Operation *> reductions) {
  Loops ids = chunked(group_->foldedBy(reductions.front()));
  loc_ = reductions.front()->getLoc();
  if (ids.empty()) {
    for (Operation *op : reductions) {
      Value result = fold(op);
      members_.back()[op] = result;
    }
    return;
  }
  llvm::DenseSet<Operation *> seen;
  llvm::SmallVector<Value> carried, results;
  llvm::SmallVector<size_t> firsts;
  for (Operation *op : reductions) {
    hoist(op, ids, seen);
    firsts.push_back(carried.size());
    llvm::append_range(carried, begin(op));
  }
  auto body = [&](ValueRange values) {
    llvm::SmallVector<Value> next;
    for (auto [i, op] : llvm::enumerate(reductions)) {
      size_t end = i + 1 < firsts.size() ? firsts[i + 1] : values.size();
      llvm::append_range(next,
                         combine(op, llvm::to_vector(values.slice(firsts[i], end - firsts[i]))));
    }
    return next;
  };
  inLoops(ids, carried, body, results);
  for (auto [op, first] : llvm::zip(reductions, firsts))
    members_.back()[op] = results[first];
}

/// Each chunk is scanned by itself, after what all earlier ones have folded to.
void ChunkEmitter::storeScan(StoreOp into, llvm::ArrayRef<int64_t> ids) {
  Operation *root = group_->root();
  Type elem = elementTypeOf(root->getResult(0).getType());
  AxisMap map = group_->mapOf(root), before = map;
  for (int64_t &id : before)
    if (llvm::is_contained(ids, id))
      id = kWhole;
  llvm::StringRef combiner = combinerOf(root);
  llvm::SmallVector<Value> last;
  inLoops(
      ids, identity(combiner, elem, before),
      [&](ValueRange carried) {
        storeTile(make(combiner, elem, {tileOf(root), carried[0]}), into);
        return llvm::SmallVector<Value>{make(combiner, elem, {carried[0], foldScanned(root)})};
      },
      last);
}

void ChunkEmitter::storeRoot(StoreOp into) {
  Operation *root = group_->root();
  loc_ = root->getLoc();
  AxisMap map = group_->mapOf(root);
  Loops ids;
  for (int64_t id : chunked(map))
    if (!group_->isParallel(id))
      ids.push_back(id);
  llvm::DenseSet<Operation *> seen;
  if (!ids.empty())
    hoist(root, ids, seen);
  if (!ids.empty() && isCumulative(root))
    return storeScan(into, ids);
  llvm::SmallVector<Value> none;
  inLoops(
      ids, {},
      [&](ValueRange) {
        Value tile = isTiled(root) ? tileOf(root) : tileOf(root->getResult(0), map);
        storeTile(isProduct(root) ? tile : spread(tile, map), into);
        return llvm::SmallVector<Value>();
      },
      none);
}

/// A tile as an array of its only axis, or as the scalar that it holds.
Value ChunkEmitter::withoutOnes(Value tile, int64_t kept) {
  llvm::ArrayRef<Extent> extents = ir::extentsOf(tile.getType());
  Type elem = elementTypeOf(tile.getType());
  llvm::SmallVector<Value> offsets(2, constant(0)), lengths(2, constant(1));
  llvm::SmallVector<int64_t> dropped;
  for (int64_t axis : {0, 1})
    if (axis != kept)
      dropped.push_back(axis);
  Type type = elem;
  if (kept >= 0) {
    const Extent &extent = extents[static_cast<size_t>(kept)];
    for (const ChunkAxis &own : axes_)
      if (own.tile && own.extent == extent)
        lengths[static_cast<size_t>(kept)] = own.tile;
    type = ArrayType::get(b_.getContext(), elem, {extent}, Place::Inferred);
  }
  return b_.create<SliceOp>(loc_, type, tile, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(dropped));
}

/// A tile has its rows first; memory may have them last, or lack them.
void ChunkEmitter::storeTile(Value tile, StoreOp into) {
  AxisMap map = group_->mapOf(group_->root());
  llvm::SmallVector<int64_t> dropped(into.getDropped());
  llvm::SmallVector<Value> offsets(into.getOffsets()), lengths(into.getLengths()),
      steps(into.getSteps());
  size_t rank = offsets.size(), next = 0;
  llvm::SmallVector<ChunkAxis::Role> roles(rank, ChunkAxis::Single);
  for (size_t base = 0; base < rank; ++base) {
    if (llvm::is_contained(into.getDropped(), static_cast<int64_t>(base)))
      continue;
    int64_t id = map[next++];
    if (id != kWhole) {
      Value shift = axis(id).position;
      if (!steps.empty())
        shift = b_.createOrFold<arith::MulIOp>(loc_, shift, steps[base]);
      offsets[base] = b_.createOrFold<arith::AddIOp>(loc_, offsets[base], shift);
      lengths[base] = axis(id).tile;
      roles[base] = axis(id).extent.isOne() ? ChunkAxis::Single : axis(id).role;
    }
    if (roles[base] == ChunkAxis::Single)
      dropped.push_back(static_cast<int64_t>(base));
  }
  auto at = [&](ChunkAxis::Role role) {
    return static_cast<int64_t>(llvm::find(roles, role) - roles.begin());
  };
  auto size = static_cast<int64_t>(rank);
  int64_t row = at(ChunkAxis::Row), col = at(ChunkAxis::Col);
  bool turned = row < size && col < size && col < row;
  // A tile that lacks an axis keeps one of extent 1 of memory for it.
  int64_t kept = size;
  if (row == size && col == size && size > 0) {
    kept = size - 1;
    llvm::erase(dropped, kept);
  }
  int64_t only = kept < size ? kept : row == size ? col : col == size ? row : size;
  if (only < size && rank > 1) {
    bool isRow = row < size;
    int64_t other =
        isRow ? (only + 1 < size ? only + 1 : only - 1) : (only > 0 ? only - 1 : only + 1);
    turned = isRow ? other < only : other > only;
    if (kept < size)
      turned = false;
    llvm::erase(dropped, other);
  }
  if (turned)
    tile = transposed(tile);
  if (rank < 2)
    tile = withoutOnes(tile, rank == 0 ? -1 : row < size ? 0 : 1);
  llvm::sort(dropped);
  b_.create<StoreOp>(into.getLoc(), tile, into.getRef(), offsets, lengths, steps, Value(),
                     b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
}

void ChunkEmitter::emitGroup(StoreOp into) {
  into_ = into;
  members_.emplace_back();
  operands_.emplace_back();
  emitReductions();
  storeRoot(into);
  members_.clear();
  operands_.clear();
}

void ChunkEmitter::emit() {
  // A fused grid stands behind the last root, a single one where its root is stored.
  Operation *last = groups_.front()->root();
  for (ChunkGroup *group : groups_)
    if (last->isBeforeInBlock(group->root()))
      last = group->root();
  b_.setInsertionPointAfter(last);
  llvm::SmallVector<RootStorage> storages;
  for (ChunkGroup *group : groups_)
    storages.push_back(allocateFor(b_, group->root()));
  for (ChunkGroup *group : groups_)
    if (groups_.size() > 1)
      bringStore(b_, group->root());
  llvm::SmallVector<StoreOp> stores;
  for (auto [group, storage] : llvm::zip(groups_, storages))
    stores.push_back(storeFor(b_, group->root(), storage,
                              [&](Operation *user) { return group->contains(user); }));
  for (StoreOp store : stores)
    written_.push_back(store.getRef());
  b_.setInsertionPoint(
      *llvm::min_element(stores, [](StoreOp a, StoreOp b) { return a->isBeforeInBlock(b); }));
  chooseSizes();
  openGrid();
  ParallelOp grid = cast<ParallelOp>(gridOp_);
  std::vector<ChunkAxis> first = axes_;
  AxisMap firstMap = group_->mapOf(group_->root());
  for (auto [group, store] : llvm::zip(groups_, stores)) {
    loc_ = group->root()->getLoc();
    if (group != groups_.front()) {
      group_ = group;
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPoint(grid);
      chooseSizes();
      AxisMap map = group_->mapOf(group_->root()); // the same tiles as the first group
      for (size_t i = 0; i < map.size(); ++i)
        if (map[i] != kWhole && firstMap[i] != kWhole)
          axis(map[i]) = first[static_cast<size_t>(firstMap[i])];
    }
    emitGroup(store);
    store.erase();
  }
  b_.create<YieldOp>(loc_);
}

} // namespace ptl::ir
