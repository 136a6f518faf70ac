#include "passes/transform/groups/chunk_emit.h"
#include "ir/dialect/attributes.h"
#include "passes/transform/groups/chunk_tiles.h"

#include "passes/transform/combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

bool ChunkEmitter::hasEqualTiles(int64_t id) const {
  // Tiles of equal length need no minimum at the end, and their extent is a constant.
  int64_t step = axis(id).step;
  if (axis(id).stepValue)
    return false;
  // Pieces end where they end, and the axis of all their results is none of the group's.
  if (step == 1 || axis(id).begin || id >= static_cast<int64_t>(group_->numAxes()))
    return step == 1;
  const Extent &whole = group_->axis(id).extent;
  return whole.isConstant() && whole.length % step == 0;
}

llvm::SmallVector<int64_t> ChunkEmitter::gridAxes() const { return chunked(group_->parallel()); }

/// The rows of what a cube core hands to its vector cores are dealt to these by their name, in whole
/// boxes for each of the two.
bool ChunkEmitter::isNamed(int64_t id) const {
  constexpr int64_t boxes = 32;
  return dealsRows_ && axis(id).role == TileAxis::Row && axis(id).step % boxes == 0;
}

/// Each loop has names of its own, so that a name is one length wherever it is seen.
std::string ChunkEmitter::tileName(int64_t) {
  return "t" + std::to_string(number_) + "." + std::to_string(names_++);
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
  Value begin = axis(id).begin ? axis(id).begin : constant(0);
  auto loop = b_.create<scf::ForOp>(loc_, begin, axis(id).length, constant(axis(id).step), carried);
  // Only the innermost loop overlaps loading with computing (double buffering).
  if (ids.size() == 1)
    attrs::pipeline.set(loop, 2);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    // Each loop has a scope of its own for what is computed in it.
    members_.emplace_back();
    operands_.emplace_back();
    place(id, loop.getInductionVar());
    llvm::SmallVector<Value> inner;
    inLoops(ids.drop_front(), loop.getRegionIterArgs(), body, inner);
    // A loop that carries nothing has its terminator already.
    if (!inner.empty())
      b_.create<scf::YieldOp>(loc_, inner);
    members_.pop_back();
    operands_.pop_back();
  }
  // Outside of the loop there is no position along this axis.
  axis(id).position = axis(id).tile = {};
  results.assign(loop.getResults().begin(), loop.getResults().end());
}

/// Computes before the loops what does not change in them.
void ChunkEmitter::hoist(Operation *op, llvm::ArrayRef<int64_t> ids,
                         llvm::DenseSet<Operation *> &seen) {
  // Each operation is visited once, also where several users lead to it.
  if (!seen.insert(op).second || !isTiled(op))
    return;
  auto changes = [&](const AxisMap &map) {
    return llvm::any_of(map, [&](int64_t id) { return llvm::is_contained(ids, group_->find(id)); });
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    // Operands of products are loaded by the product itself.
    if (!isa<ArrayType>(operand.getType()) || isProduct(op))
      continue;
    auto number = static_cast<unsigned>(i);
    Access access = originOf(operand, group_->operandMap(op, number));
    Operation *origin = access.origin.getDefiningOp();
    bool isMember = origin && group_->contains(origin);
    // Nothing in the value depends on the loops, so it is computed in front of them.
    if (!changes(isMember ? group_->mapOf(origin) : access.map()))
      operandTile(op, number);
    // The value itself changes, but what it is computed from may not.
    else if (isMember)
      hoist(origin, ids, seen);
  }
}

/// Steps of the group: a reduction comes one step after those that its operand needs.
static int64_t levelOf(Operation *op, const OpGroup &group,
                       llvm::DenseMap<Operation *, int64_t> &levels) {
  if (auto known = levels.find(op); known != levels.end())
    return known->second;
  int64_t level = 0;
  for (Value operand : op->getOperands()) {
    if (!isa<ArrayType>(operand.getType()))
      continue;
    // Views are looked through, so the origin without positions is enough here.
    AxisMap all(static_cast<size_t>(rankOf(operand.getType())), kWhole);
    Operation *origin = originOf(operand, all).origin.getDefiningOp();
    if (origin && origin != op && group.contains(origin))
      level = std::max(level, levelOf(origin, group, levels) + (isReduction(origin) ? 1 : 0));
  }
  return levels[op] = level;
}

std::vector<llvm::SmallVector<Operation *>> reductionsByLevel(const OpGroup &group) {
  llvm::DenseMap<Operation *, int64_t> levels;
  std::vector<llvm::SmallVector<Operation *>> all;
  llvm::SmallVector<Operation *> members = group.members();
  for (Operation *op : llvm::reverse(members)) { // in the order of the program
    if (!isReduction(op))
      continue;
    auto level = static_cast<size_t>(levelOf(op, group, levels));
    all.resize(std::max(all.size(), level + 1));
    all[level].push_back(op);
  }
  return all;
}

/// Those along the same axes share their loops.
void ChunkEmitter::reduceLevel(llvm::ArrayRef<Operation *> reductions) {
  llvm::SmallVector<Operation *> ready(reductions);
  while (!ready.empty()) {
    Loops ids = chunked(group_->foldedBy(ready.front()));
    auto alike = [&](Operation *op) { return chunked(group_->foldedBy(op)) == ids; };
    llvm::SmallVector<Operation *> together;
    llvm::copy_if(ready, std::back_inserter(together), alike);
    llvm::erase_if(ready, alike);
    reduceTogether(together);
  }
}

void ChunkEmitter::reduceTogether(llvm::ArrayRef<Operation *> reductions) {
  Loops ids = chunked(group_->foldedBy(reductions.front()));
  loc_ = reductions.front()->getLoc();
  // Without loops each reduction is one instruction on the tile.
  if (ids.empty()) {
    for (Operation *op : reductions) {
      Value result = fold(op);
      members_.back()[op] = result;
    }
    return;
  }
  llvm::DenseSet<Operation *> seen;
  llvm::SmallVector<Value> carried, results;
  // Searches carry two values, so each reduction has its own place in the list.
  llvm::SmallVector<size_t> firsts;
  for (Operation *op : reductions) {
    // What does not change in the loop must be there before it begins.
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
void ChunkEmitter::storeScan(StoreOp into, llvm::ArrayRef<int64_t> ids, Value before) {
  Operation *root = group_->root();
  Type elem = elementTypeOf(root->getResult(0).getType());
  AxisMap map = group_->mapOf(root), folded = map;
  // What comes before a chunk has no extent along the scanned axis.
  for (int64_t &id : folded)
    if (llvm::is_contained(ids, id))
      id = kWhole;
  llvm::StringRef combiner = combinerOf(root);
  llvm::SmallVector<Value> last;
  inLoops(
      ids, before ? before : identity(combiner, elem, folded),
      [&](ValueRange carried) {
        // The chunk is scanned from the identity, and what comes before it is combined with each of its elements: combiners of scans are
        // associative.
        storeTile(make(combiner, elem, {tileOf(root), carried[0]}), into, map);
        return llvm::SmallVector<Value>{make(combiner, elem, {carried[0], foldScanned(root)})};
      },
      last);
}

void ChunkEmitter::storeRoot(StoreOp into, Value before) {
  Operation *root = group_->root();
  loc_ = root->getLoc();
  AxisMap map = group_->mapOf(root);
  Loops ids;
  for (int64_t id : chunked(map))
    // Parallel axes are those of the grid; only the others need loops.
    if (!group_->isParallel(id))
      ids.push_back(id);
  llvm::DenseSet<Operation *> seen;
  if (!ids.empty())
    hoist(root, ids, seen);
  if (!ids.empty() && isCumulative(root))
    return storeScan(into, ids, before);
  llvm::SmallVector<Value> none;
  inLoops(
      ids, {},
      [&](ValueRange) {
        storeMembers(/*likeRoot=*/true);
        loc_ = root->getLoc();
        Value tile = isTiled(root) ? tileOf(root) : tileOf(root->getResult(0), map);
        storeTile(isProduct(root) ? tile : spread(tile, map), into, map);
        return llvm::SmallVector<Value>();
      },
      none);
}

void ChunkEmitter::storeMembers(bool likeRoot) {
  AxisMap ofRoot = group_->mapOf(group_->root());
  for (auto [op, into] : llvm::zip_equal(group_->stored(), memberStores_)) {
    AxisMap map = group_->mapOf(op);
    if ((map == ofRoot) != likeRoot)
      continue;
    loc_ = op->getLoc();
    Value tile = tileOf(op);
    storeTile(spread(tile, map), into, map);
  }
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
    // The tile's length is that of the axis with the same extent.
    for (const TileAxis &own : axes_)
      if (own.tile && own.extent == extent)
        lengths[static_cast<size_t>(kept)] = own.tile;
    type = arrayTypeOf(elem, {extent});
  }
  return b_.create<SliceOp>(loc_, type, tile, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(dropped));
}

/// A tile has its rows first; memory may have them last, or lack them.
void ChunkEmitter::storeTile(Value tile, StoreOp into, const AxisMap &map) {
  TileBox box = boxOfTile(into, map);
  llvm::SmallVector<int64_t> dropped(into.getDropped());
  size_t rank = box.ids.size();
  llvm::SmallVector<TileAxis::Role> roles(rank, TileAxis::Single);
  for (auto [base, id] : llvm::enumerate(box.ids)) {
    if (id != kWhole && !axis(id).extent.isOne())
      roles[base] = axis(id).role;
    // Memory has all axes, the tile only two; the others have one position and are dropped.
    if (roles[base] == TileAxis::Single &&
        !llvm::is_contained(into.getDropped(), static_cast<int64_t>(base)))
      dropped.push_back(static_cast<int64_t>(base));
  }
  auto at = [&](TileAxis::Role role) {
    return static_cast<int64_t>(llvm::find(roles, role) - roles.begin());
  };
  auto size = static_cast<int64_t>(rank);
  int64_t row = at(TileAxis::Row), col = at(TileAxis::Col);
  // If memory has the columns before the rows, the tile is stored transposed.
  bool turned = row < size && col < size && col < row;
  // A tile that lacks an axis keeps one of extent 1 of memory for it.
  int64_t kept = size;
  if (row == size && col == size && size > 0) {
    kept = size - 1;
    llvm::erase(dropped, kept);
  }
  int64_t only = kept < size ? kept : row == size ? col : col == size ? row : size;
  // A tile with one axis in memory still has two, so the other one is stored with extent 1.
  if (only < size && rank > 1) {
    // The axis of extent 1 beside the only other one stands for the tile's columns or rows. Where it lies on the other side in memory, the
    // tile is turned; a tile of one element has nothing to turn.
    bool isRow = row < size;
    int64_t other =
        isRow ? (only + 1 < size ? only + 1 : only - 1) : (only > 0 ? only - 1 : only + 1);
    turned = isRow ? other < only : other > only;
    if (kept < size)
      turned = false;
    llvm::erase(dropped, other);
  }
  if (turned)
    tile = transposed(b_, loc_, tile);
  if (rank < 2)
    tile = withoutOnes(tile, rank == 0 ? -1 : row < size ? 0 : 1);
  llvm::sort(dropped);
  b_.create<StoreOp>(into.getLoc(), tile, into.getRef(), box.offsets, box.lengths, box.steps,
                     Value(), b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
}

void ChunkEmitter::emitGroup(llvm::ArrayRef<StoreOp> stores) {
  StoreOp into = stores.front(); // roots on chips have one result
  into_ = into;
  memberStores_.assign(stores.begin() + 1, stores.end());
  members_.emplace_back();
  operands_.emplace_back();
  // Reductions come first, since the root needs their results.
  for (const llvm::SmallVector<Operation *> &reductions : reductionsByLevel(*group_))
    reduceLevel(reductions);
  storeMembers(/*likeRoot=*/false);
  storeRoot(into);
  members_.clear();
  operands_.clear();
}

} // namespace ptl::ir
