// Tensor level to tile level: groups of operations become grids over tiles of their root.
#include "ir/dialect/attributes.h"
#include "passes/passes.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/group_schedule.h"
#include "passes/transform/schedule_effects.h"

#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/fusion_group.h"
#include "passes/transform/root_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_PARTITION
#include "passes/passes.h.inc"

namespace {

struct TileSizes {
  int64_t productM, productN, bytes;
};

/// Emits one grid for one group, or for several that a schedule fuses. The first decides about the
/// tiles.
class GridEmitter {
public:
  GridEmitter(llvm::ArrayRef<FusionGroup *> groups, const TileSizes &sizes, unsigned number)
      : groups_(groups), group_(groups.front()), sizes_(sizes), number_(number),
        builder_(groups.front()->root()->getContext()) {}

  /// Computes each root into the box of its only store, else into new storage that its users then
  /// load.
  void emit();

private:
  struct Axis {
    Value length, step, position, tile;
    int64_t capacity = Extent::kUnknown;
  };
  void chooseSteps();
  Value tileBudget();
  Value atLeastOne(Value value);
  std::optional<int64_t> scheduledStep(int64_t axis);
  void openGrid();
  Value tileOf(Value value, const AxisMap &map);
  Value cloneMember(Operation *op, const AxisMap &map);
  Value cloneCreation(Operation *op, const AxisMap &map);
  Value sliceOf(Value value, const AxisMap &map);
  ArrayType tileType(ArrayType type, const AxisMap &map);
  void storeTile(Value tile, StoreOp into);
  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(loc_(), value); }
  Location loc_() { return group_->root()->getLoc(); }

  llvm::ArrayRef<FusionGroup *> groups_;
  FusionGroup *group_; ///< the one being emitted
  const TileSizes &sizes_;
  unsigned number_;
  OpBuilder builder_;
  llvm::SmallVector<Axis> axes_; ///< by axis of the root; unused where not parallel
  NamedAttrList scheduled_;      ///< the sizes that a schedule gave
  llvm::DenseMap<Value, Value> tiles_;
};

/// A size that a schedule gives for this axis: `tile B by 128`.
std::optional<int64_t> GridEmitter::scheduledStep(int64_t axis) {
  const Extent &extent = extentsOf(group_->root()->getResult(0).getType())[axis];
  std::optional<int64_t> step = ir::scheduledStep(group_->members(), extent);
  if (step)
    scheduled_.set(lengthName(extent), builder_.getI64IntegerAttr(*step));
  return step;
}

/// Elements that a tile may have along the parallel axes, so that its part of the result, or of
/// what it reduces, has about the wanted number of bytes.
Value GridEmitter::tileBudget() {
  Operation *root = group_->root();
  const OpRecord *record = recordOf(root);
  bool reduces = record && record->opClass == OpClass::Reduction;
  Value widest = reduces ? root->getOperand(0) : root->getResult(0);
  AxisMap map = reduces ? group_->operandMap(root, 0) : group_->mapOf(root);
  Type element = elementTypeOf(widest.getType());
  int64_t bytes = element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  Value whole = constant(1);
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] == kWhole)
      whole = builder_.createOrFold<arith::MulIOp>(
          loc_(), whole, lengthOf(builder_, widest, static_cast<int64_t>(i)));
  return atLeastOne(builder_.createOrFold<arith::DivUIOp>(loc_(), constant(sizes_.bytes / bytes),
                                                          atLeastOne(whole)));
}

Value GridEmitter::atLeastOne(Value value) {
  return builder_.createOrFold<arith::MaxSIOp>(loc_(), value, constant(1));
}

/// A product has the machine's tile. Anything else is cut so that a tile is a run of memory as far
/// as may be: the last axes whole while the budget lasts.
void GridEmitter::chooseSteps() {
  Value root = group_->root()->getResult(0);
  int64_t rank = rankOf(root.getType());
  axes_.resize(static_cast<size_t>(rank));
  Value budget;
  for (int64_t axis : llvm::reverse(group_->parallel())) {
    Axis &own = axes_[static_cast<size_t>(axis)];
    own.length = lengthOf(builder_, root, axis);
    std::optional<int64_t> fixed = scheduledStep(axis);
    if (!fixed && group_->hasProduct())
      fixed = axis == rank - 1 ? sizes_.productN : axis == rank - 2 ? sizes_.productM : 1;
    if (fixed) {
      own.capacity = *fixed;
      own.step = constant(*fixed);
      continue;
    }
    if (!budget)
      budget = tileBudget();
    // Short pieces of rows would waste whole vectors.
    own.step = axis == rank - 1
                   ? builder_.createOrFold<arith::MaxSIOp>(loc_(), budget, constant(64))
                   : budget;
    if (axis == group_->parallel().front())
      break;
    own.step = builder_.createOrFold<arith::MinSIOp>(loc_(), own.step, atLeastOne(own.length));
    budget = atLeastOne(builder_.createOrFold<arith::DivUIOp>(loc_(), budget, own.step));
  }
}

void GridEmitter::openGrid() {
  llvm::SmallVector<Value> lower, upper, steps;
  for (int64_t axis : group_->parallel()) {
    const Axis &own = axes_[static_cast<size_t>(axis)];
    lower.push_back(constant(0));
    upper.push_back(own.length);
    steps.push_back(own.step);
  }
  auto grid = builder_.create<ParallelOp>(loc_(), lower, upper, steps);
  takeMarks(grid, groups_.front()->root());
  if (!scheduled_.empty())
    attrs::tiled.set(grid, scheduled_.getDictionary(builder_.getContext()));
  llvm::SmallVector<Type> types(lower.size(), builder_.getIndexType());
  // The name of a root is not that of a position.
  llvm::SmallVector<Location> locs(lower.size(), block::withoutName(loc_()));
  Block *body = builder_.createBlock(&grid.getBody(), {}, types, locs);
  for (auto [i, axis] : llvm::enumerate(group_->parallel())) {
    Axis &own = axes_[static_cast<size_t>(axis)];
    own.position = body->getArgument(static_cast<unsigned>(i));
    if (own.capacity == 1) {
      own.tile = constant(1);
      continue;
    }
    Value rest = builder_.createOrFold<arith::SubIOp>(loc_(), own.length, own.position);
    own.tile = builder_.createOrFold<arith::MinSIOp>(loc_(), rest, own.step);
  }
}

ArrayType GridEmitter::tileType(ArrayType type, const AxisMap &map) {
  llvm::SmallVector<Extent> extents(type.getExtents());
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] == kWhole)
      continue;
    const Axis &own = axes_[static_cast<size_t>(map[i])];
    std::string name = "t" + std::to_string(number_) + "." + std::to_string(map[i]);
    extents[i] = own.capacity == 1 ? Extent::constant(1)
                                   : Extent::named(builder_.getStringAttr(name), own.capacity);
  }
  return ArrayType::get(type.getContext(), type.getElementType(), extents, Place::Inferred);
}

Value GridEmitter::sliceOf(Value value, const AxisMap &map) {
  if (llvm::all_of(map, [](int64_t axis) { return axis == kWhole; }))
    return value;
  llvm::SmallVector<Value> offsets, lengths;
  for (size_t i = 0; i < map.size(); ++i) {
    bool isWhole = map[i] == kWhole;
    const Axis *own = isWhole ? nullptr : &axes_[static_cast<size_t>(map[i])];
    offsets.push_back(isWhole ? constant(0) : own->position);
    lengths.push_back(isWhole ? lengthOf(builder_, value, static_cast<int64_t>(i)) : own->tile);
  }
  auto type = tileType(cast<ArrayType>(value.getType()), map);
  return builder_.create<SliceOp>(value.getLoc(), type, value, offsets, lengths, ValueRange(),
                                  Value(), builder_.getDenseI64ArrayAttr({}));
}

/// Constants and positions are made anew for the tile.
Value GridEmitter::cloneCreation(Operation *op, const AxisMap &map) {
  auto type = tileType(cast<ArrayType>(op->getResult(0).getType()), map);
  llvm::SmallVector<Value> lengths;
  for (size_t i = 0; i < map.size(); ++i)
    if (!type.getExtents()[i].isConstant())
      lengths.push_back(map[i] == kWhole
                            ? lengthOf(builder_, op->getResult(0), static_cast<int64_t>(i))
                            : axes_[static_cast<size_t>(map[i])].tile);
  const OpRecord *record = recordOf(op);
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  state.addTypes(type);
  if (record->id == OpId::Index) {
    Value start = op->getOperand(0);
    if (map[0] != kWhole)
      start = builder_.createOrFold<arith::AddIOp>(op->getLoc(), start,
                                                   axes_[static_cast<size_t>(map[0])].position);
    state.addOperands(start);
    state.addOperands(lengths);
  } else {
    state.addOperands(lengths);
    if (record->id == OpId::Full)
      state.addOperands(op->getOperands().back());
  }
  return builder_.create(state)->getResult(0);
}

Value GridEmitter::cloneMember(Operation *op, const AxisMap &map) {
  auto maps = *operandAxes(op, map);
  const OpRecord *record = recordOf(op);
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  auto type = tileType(cast<ArrayType>(op->getResult(0).getType()), map);
  state.addTypes(type);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool isLength = record && record->id == OpId::Broadcast && i > 0;
    if (!isLength)
      state.addOperands(rankOf(operand.getType()) > 0 ? tileOf(operand, maps[i]) : operand);
  }
  if (record && record->id == OpId::Broadcast)
    for (size_t i = 0; i < map.size(); ++i)
      if (!type.getExtents()[i].isConstant())
        state.addOperands(map[i] == kWhole
                              ? lengthOf(builder_, op->getResult(0), static_cast<int64_t>(i))
                              : axes_[static_cast<size_t>(map[i])].tile);
  return builder_.create(state)->getResult(0);
}

/// The part of a value that the tile needs: computed here for members and views, cut out for
/// others.
Value GridEmitter::tileOf(Value value, const AxisMap &map) {
  Operation *op = value.getDefiningOp();
  bool isMember = op && group_->contains(op);
  if (isMember)
    if (Value known = tiles_.lookup(value))
      return known;
  bool isMapped = llvm::any_of(map, [](int64_t axis) { return axis != kWhole; });
  const OpRecord *record = op ? recordOf(op) : nullptr;
  bool isFilled = record && (record->id == OpId::Zeros || record->id == OpId::Ones ||
                             record->id == OpId::Full || record->id == OpId::Index);
  Value tile;
  if (isFilled && isMapped)
    tile = cloneCreation(op, map);
  else if (isMember)
    tile = cloneMember(op, map);
  else if (op && isMapped && isViewLike(op) && !isa<SliceOp>(op) && operandAxes(op, map))
    tile = cloneMember(op, map);
  else
    tile = sliceOf(value, map);
  if (isMember)
    tiles_[value] = tile;
  return tile;
}

void GridEmitter::storeTile(Value tile, StoreOp into) {
  AxisMap map = group_->mapOf(group_->root());
  auto dropped = into.getDropped();
  llvm::SmallVector<Value> offsets(into.getOffsets()), lengths(into.getLengths()),
      steps(into.getSteps());
  size_t axis = 0;
  for (size_t base = 0; base < offsets.size(); ++base) {
    if (llvm::is_contained(dropped, static_cast<int64_t>(base)))
      continue;
    int64_t mapped = map[axis++];
    if (mapped == kWhole)
      continue;
    const Axis &own = axes_[static_cast<size_t>(mapped)];
    Value shift = own.position;
    if (!steps.empty())
      shift = builder_.createOrFold<arith::MulIOp>(loc_(), shift, steps[base]);
    offsets[base] = builder_.createOrFold<arith::AddIOp>(loc_(), offsets[base], shift);
    lengths[base] = own.tile;
  }
  builder_.create<StoreOp>(into.getLoc(), tile, into.getRef(), offsets, lengths, steps, Value(),
                           into.getDroppedAttr(), IntegerAttr(), StringAttr());
}

void GridEmitter::emit() {
  // A fused grid stands behind the last root, a single one where its root is stored.
  Operation *last = groups_.front()->root();
  for (FusionGroup *group : groups_)
    if (last->isBeforeInBlock(group->root()))
      last = group->root();
  llvm::SmallVector<StoreOp> stores;
  builder_.setInsertionPointAfter(last);
  // The grid stands before the first store, so everything that it needs is made before all of them.
  llvm::SmallVector<RootStorage> storages;
  for (FusionGroup *group : groups_) {
    storages.push_back(allocateFor(builder_, group->root()));
  }
  for (FusionGroup *group : groups_)
    if (groups_.size() > 1)
      bringStore(builder_, group->root());
  for (auto [group, storage] : llvm::zip(groups_, storages)) {
    stores.push_back(storeFor(builder_, group->root(), storage,
                              [&](Operation *user) { return group->contains(user); }));
  }
  group_ = groups_.front();
  builder_.setInsertionPoint(
      *llvm::min_element(stores, [](StoreOp a, StoreOp b) { return a->isBeforeInBlock(b); }));
  chooseSteps();
  openGrid();
  for (auto [group, store] : llvm::zip(groups_, stores)) {
    group_ = group;
    storeTile(tileOf(group->root()->getResult(0), group->mapOf(group->root())), store);
    store.erase();
  }
  builder_.create<YieldOp>(loc_());
}

/// Finds the groups of one block and replaces each by its grid.
class BlockPartitioner {
public:
  BlockPartitioner(Block &block, const TileSizes &sizes, unsigned &number)
      : block_(block), sizes_(sizes), number_(number) {}
  void run();

private:
  bool isCandidate(Operation &op);
  bool mustBeStored(Operation &op);
  FusionGroup *groupOfUsers(Operation &op);

  Block &block_;
  const TileSizes &sizes_;
  unsigned &number_;
  std::vector<std::unique_ptr<FusionGroup>> groups_; ///< in reverse program order
  llvm::DenseMap<Operation *, FusionGroup *> groupOf_;
};

bool BlockPartitioner::isCandidate(Operation &op) {
  return op.getNumResults() == 1 && isa<ArrayType>(op.getResult(0).getType()) &&
         (isElementwise(&op) || isExpensive(&op) || isViewLike(&op));
}

/// Views are roots only where they are stored as they are.
bool BlockPartitioner::mustBeStored(Operation &op) {
  return !isViewLike(&op) ||
         llvm::any_of(op.getUsers(), [](Operation *user) { return isa<StoreOp>(user); });
}

FusionGroup *BlockPartitioner::groupOfUsers(Operation &op) {
  FusionGroup *group = nullptr;
  for (Operation *user : op.getUsers()) {
    FusionGroup *own = groupOf_.lookup(user);
    if (!own || (group && own != group))
      return nullptr;
    group = own;
  }
  return group;
}

/// Whether two groups can share a grid: the same tiles along the same lengths.
static bool sameGrid(const FusionGroup &a, const FusionGroup &b) {
  llvm::ArrayRef<Extent> extentsA = extentsOf(a.root()->getResult(0).getType());
  llvm::ArrayRef<Extent> extentsB = extentsOf(b.root()->getResult(0).getType());
  return a.parallel() == b.parallel() && llvm::all_of(a.parallel(), [&](int64_t axis) {
           return extentsA[static_cast<size_t>(axis)] == extentsB[static_cast<size_t>(axis)];
         });
}

void BlockPartitioner::run() {
  for (Operation &op : llvm::reverse(block_)) {
    if (!isCandidate(op) || op.use_empty())
      continue;
    if (FusionGroup *group = groupOfUsers(op);
        group && !keptApart(&op, group->root()) && group->tryJoin(&op)) {
      groupOf_[&op] = group;
      continue;
    }
    if (!mustBeStored(op))
      continue;
    groups_.push_back(std::make_unique<FusionGroup>(&op));
    groupOf_[&op] = groups_.back().get();
  }
  llvm::DenseSet<FusionGroup *> done;
  for (auto &group : llvm::reverse(groups_)) {
    if (group->parallel().empty() || done.count(group.get()))
      continue;
    std::vector<FusionGroup *> fused = fusedWith(group.get(), groups_, block_, sameGrid);
    done.insert(fused.begin(), fused.end());
    GridEmitter(fused, sizes_, number_++).emit();
  }
  // What only the grids' copies replaced is dead now.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block_)))
    if (isCandidate(op) && op.use_empty())
      op.erase();
}

struct PartitionPass : impl::PartitionBase<PartitionPass> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    ScheduleEffects effects(getOperation());
    forwardStorage(getOperation());
    llvm::SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!block->getParentOp()->getParentOfType<ParallelOp>() &&
          !isa<ParallelOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    TileSizes sizes{productM, productN, tileBytes};
    unsigned number = 0;
    for (Block *block : blocks)
      BlockPartitioner(*block, sizes, number).run();
    effects.check();
  }
};

} // namespace
} // namespace ptl::ir
