#include "passes/transform/groups/partition_emit.h"

#include "ir/dialect/fold.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

// ---- sizes --------------------------------------------------------------------------------------

static int64_t elementBytes(Value array) {
  Type element = elementTypeOf(array.getType());
  return element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// Elements that a tile may have along the axes that `map` cuts, so that its part of the value has about the wanted number of bytes.
Value PartitionEmitter::budgetOf(Value value, const AxisMap &map, int64_t bytes) {
  // Axes that are whole in each tile take their part of the budget first.
  Value whole = constant(1);
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] == kWhole)
      whole =
          b_.createOrFold<arith::MulIOp>(loc_, whole, lengthOf(b_, value, static_cast<int64_t>(i)));
  return atLeastOne(b_.createOrFold<arith::DivUIOp>(loc_, constant(bytes / elementBytes(value)),
                                                    atLeastOne(whole)));
}

/// Whether a tile has an axis of the value whole that may be longer than 1.
static bool hasWholeAxis(Value value, const AxisMap &map) {
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  for (auto [axis, extent] : llvm::zip(map, extents))
    if (axis == kWhole && !(extent.isConstant() && extent.length == 1))
      return true;
  return false;
}

/// Elements that a tile may have along the parallel axes, by the result, or by what is read of it.
Value PartitionEmitter::tileBudget() {
  Operation *root = group_->root();
  const OpRecord *record = recordOf(root);
  // A reduction reads more than it writes, so its operand decides.
  auto fold = dyn_cast<FoldOp>(root);
  bool reduces = (record && record->opClass == OpClass::Reduction) || isa<TopkOp>(root) ||
                 (fold && fold.getLast());
  Value widest = reduces ? root->getOperand(0) : root->getResult(0);
  AxisMap map = reduces ? group_->operandMap(root, 0) : group_->mapOf(root);
  bool isWhole = hasWholeAxis(widest, map),
       isReadAgain = isWhole && !reduces && llvm::any_of(group_->members(), isReduction);
  // Rows that several passes read stay in half of a first cache, beside those that come next.
  Value budget = budgetOf(widest, map, isReadAgain ? sizes_.bytes / 2 : sizes_.bytes);
  if (isWhole)
    return budget;
  // What is computed from folded rows says nothing of how long these are.
  llvm::SmallVector<llvm::ArrayRef<Extent>> seen;
  for (Operation *member : group_->members()) {
    if (member == root || !isReduction(member))
      continue;
    Value folded = member->getOperand(0);
    llvm::ArrayRef<Extent> extents = extentsOf(folded.getType());
    if (llvm::is_contained(seen, extents))
      continue;
    // Elements as large as those of the result leave room for as many of them at most.
    bool decides = seen.empty() && elementBytes(folded) >= elementBytes(widest);
    seen.push_back(extents);
    Value own = budgetOf(folded, group_->operandMap(member, 0), sizes_.bytes);
    budget = decides ? own : b_.createOrFold<arith::MinSIOp>(loc_, budget, own);
  }
  return budget;
}

Value PartitionEmitter::atLeastOne(Value value) { return atLeast(value, 1); }

/// The form that the checker gives to `max(max(value, 1), least)`, so that a printed text has the same lengths when it is compiled again.
Value PartitionEmitter::atLeast(Value value, int64_t least) {
  auto inner = value.getDefiningOp<arith::MaxSIOp>();
  std::optional<int64_t> bound = inner ? getConstantIntValue(inner.getRhs()) : std::nullopt;
  if (bound && *bound >= least)
    return value;
  return b_.createOrFold<arith::MaxSIOp>(loc_, bound ? inner.getLhs() : value, constant(least));
}

/// Pieces of rows are not shorter, so that what is folded over many rows has runs of memory to read.
static constexpr int64_t kShortestPiece = 512;
// Where rows become columns, a tile has more rows than its part of the budget, so that it reads some lines of each page.
static constexpr int64_t kTurnedBudgets = 4;

/// Whether the group only brings elements in another order, in which other ones are neighbours: its tiles have a piece of rows and
/// of columns, so that whole lines of cache are read and written.
static bool turns(const OpGroup &group) {
  auto transpose = dyn_cast<TransposeOp>(group.root());
  return transpose &&
         transpose.getAxes().back() != static_cast<int64_t>(transpose.getAxes().size()) - 1;
}

/// The result of a matrix and a vector is cut by rows or by columns of the matrix, which is read once: rows are long, and of columns
/// a tile reads a piece of each row.
static constexpr int64_t kVectorRows = 128;

static bool multipliesVectorFromLeft(const OpGroup &group) {
  return llvm::any_of(group.members(), [](Operation *op) {
    return isa<MatmulOp>(op) && rankOf(op->getOperand(0).getType()) == 1;
  });
}

/// Products of so few constant rows and columns are written out, as many at a time as a tile has matrices.
static constexpr int64_t kTinyEdge = 16, kTinyMatrices = 16;

/// Whether the group computes a batch of such products.
static bool multipliesTiny(const OpGroup &group) {
  llvm::ArrayRef<Extent> extents = extentsOf(group.root()->getResult(0).getType());
  return group.hasProduct() && extents.size() > 2 &&
         llvm::all_of(extents.take_back(2), [](const Extent &extent) {
           return extent.isConstant() && extent.length > 0 && extent.length <= kTinyEdge;
         });
}

/// Products by so few constant numbers are loops over rows, which pack nothing, so a tile has many rows and all columns.
static constexpr int64_t kFewEdge = 8, kRowsByFew = 4096;

static bool isFew(Value value, int64_t fromEnd) {
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  auto rank = static_cast<int64_t>(extents.size());
  if (rank < std::max<int64_t>(fromEnd, 2))
    return false;
  const Extent &extent = extents[static_cast<size_t>(rank - fromEnd)];
  return extent.isConstant() && extent.length > 0 && extent.length <= kFewEdge;
}

/// Whether the rows of the group are those of products by a few numbers.
static bool multipliesByFew(const OpGroup &group) {
  return group.hasProduct() && isFew(group.root()->getResult(0), 1) &&
         llvm::all_of(group.members(), [](Operation *op) {
           return !isProduct(op) || (isFew(op->getOperand(1), 1) && isFew(op->getOperand(1), 2));
         });
}

/// A product has the machine's tile. Anything else is cut so that a tile is a run of memory as far
/// as may be: the last axes whole while the budget lasts.
void PartitionEmitter::chooseSizes(bool isFirst) {
  axes_.assign(group_->numAxes(), {});
  if (!isFirst)
    return;
  Value root = group_->root()->getResult(0);
  // What drops axes of what it stores has the tiles of that.
  AxisMap places = isa<SliceOp>(group_->root()) ? group_->operandMap(group_->root(), 0)
                                                : group_->mapOf(group_->root());
  auto rank = static_cast<int64_t>(places.size());
  isTiny_ = multipliesTiny(*group_);
  isByFew_ = multipliesByFew(*group_);
  Value budget;
  // The budget is spent from the last axis on, so that a tile is a run of memory.
  llvm::SmallVector<int64_t> parallel = group_->parallel();
  for (int64_t id : llvm::reverse(parallel)) {
    TileAxis &own = axis(id);
    int64_t at = llvm::find(places, id) - places.begin();
    own.length = lengthOf(b_, root, group_->axis(id).axis);
    std::optional<int64_t> fixed = scheduledStep(*group_, id);
    if (!fixed && isTiny_ && at >= rank - 3)
      fixed = at == rank - 3 ? kTinyMatrices : group_->axis(id).extent.length;
    if (!fixed && isByFew_ && at >= rank - 2)
      fixed = at == rank - 2 ? kRowsByFew : group_->axis(id).extent.length;
    if (!fixed && group_->hasProduct())
      fixed = rank == 1        ? multipliesVectorFromLeft(*group_) ? kShortestPiece : kVectorRows
              : at == rank - 1 ? sizes_.productN
              : at == rank - 2 ? sizes_.productM
                               : 1;
    own.step = fixed.value_or(Extent::kUnknown);
    if (fixed) {
      own.stepValue = constant(*fixed);
      continue;
    }
    if (!budget) {
      budget = tileBudget();
      if (turns(*group_))
        budget = b_.createOrFold<arith::MulIOp>(loc_, budget, constant(kTurnedBudgets));
    }
    own.stepValue = at == rank - 1 ? atLeast(budget, kShortestPiece) : budget;
    if (at == rank - 1 && turns(*group_))
      own.stepValue = constant(kShortestPiece);
    // The first axis takes what is left of the budget, whatever its length.
    if (id == parallel.front())
      break;
    own.stepValue = b_.createOrFold<arith::MinSIOp>(loc_, own.stepValue, atLeastOne(own.length));
    budget = atLeastOne(b_.createOrFold<arith::DivUIOp>(loc_, budget, own.stepValue));
  }
}

std::string PartitionEmitter::tileName(int64_t id) {
  return "t" + std::to_string(number_) + "." + std::to_string(group_->axis(id).axis);
}

/// The name of a root is not that of a position.
Location PartitionEmitter::positionLoc() const { return block::withoutName(loc_); }

// ---- tiles --------------------------------------------------------------------------------------

ArrayType PartitionEmitter::tileType(ArrayType type, const AxisMap &map) {
  llvm::SmallVector<Extent> extents(type.getExtents());
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != kWhole)
      extents[i] = axis(map[i]).extent;
  return arrayTypeOf(type.getElementType(), extents);
}

Value PartitionEmitter::sliceOf(Value value, const AxisMap &map) {
  // A value that is needed whole is used as it is.
  if (llvm::all_of(map, [](int64_t axis) { return axis == kWhole; }))
    return value;
  llvm::SmallVector<Value> offsets, lengths;
  for (size_t i = 0; i < map.size(); ++i) {
    bool isWhole = map[i] == kWhole;
    const TileAxis *own = isWhole ? nullptr : &axis(map[i]);
    offsets.push_back(isWhole ? constant(0) : own->position);
    lengths.push_back(isWhole ? lengthOf(b_, value, static_cast<int64_t>(i)) : own->tile);
  }
  auto type = tileType(cast<ArrayType>(value.getType()), map);
  return b_.create<SliceOp>(value.getLoc(), type, value, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr({}));
}

/// Whether an array is in memory before a grid is entered, as views of it are.
static bool isInMemory(Value array) {
  Operation *op = array.getDefiningOp();
  while (op && isView(op)) {
    array = op->getOperand(0);
    op = array.getDefiningOp();
  }
  return !op || isa<LoadOp, scf::ForOp>(op);
}

/// What surrounds an array in memory for one elementwise operation of the group: tiles read the array itself, and have the value of
/// the margins where they are beyond its edges. With other users it is put together once, as every element would be compared with the
/// edges for each of them.
static PadOp paddedForElements(Operation *op, const OpGroup &group) {
  auto pad = dyn_cast_or_null<PadOp>(op);
  if (!pad || !pad->hasOneUse() || !isInMemory(pad.getX()))
    return {};
  Operation *user = *pad->getUsers().begin();
  return isElementwise(user) && group.contains(user) ? pad : PadOp();
}

Value PartitionEmitter::slicePadded(PadOp pad, const AxisMap &map) {
  llvm::SmallVector<Value> offsets, lengths;
  for (size_t i = 0; i < map.size(); ++i) {
    bool isWhole = map[i] == kWhole;
    Value at = isWhole ? constant(0) : axis(map[i]).position;
    if (!pad.getBefore().empty())
      at = b_.createOrFold<arith::SubIOp>(pad.getLoc(), at, pad.getBefore()[i]);
    offsets.push_back(at);
    lengths.push_back(isWhole ? lengthOf(b_, pad.getResult(), static_cast<int64_t>(i))
                              : axis(map[i]).tile);
  }
  return b_.create<SliceOp>(pad.getLoc(), tileType(cast<ArrayType>(pad.getType()), map), pad.getX(),
                            offsets, lengths, ValueRange(), pad.getValue(),
                            b_.getDenseI64ArrayAttr({}));
}

/// Constants and positions are made anew for the tile.
Value PartitionEmitter::cloneCreation(Operation *op, const AxisMap &map) {
  auto type = tileType(cast<ArrayType>(op->getResult(0).getType()), map);
  llvm::SmallVector<Value> lengths;
  for (size_t i = 0; i < map.size(); ++i)
    if (!type.getExtents()[i].isConstant())
      lengths.push_back(map[i] == kWhole ? lengthOf(b_, op->getResult(0), static_cast<int64_t>(i))
                                         : axis(map[i]).tile);
  const OpRecord *record = recordOf(op);
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  state.addTypes(type);
  if (record->id == OpId::Index) {
    Value start = op->getOperand(0);
    // Positions of the tile begin at its own position.
    if (map[0] != kWhole)
      start = b_.createOrFold<arith::AddIOp>(op->getLoc(), start, axis(map[0]).position);
    state.addOperands(start);
    state.addOperands(lengths);
  } else {
    state.addOperands(lengths);
    if (record->id == OpId::Full)
      state.addOperands(op->getOperands().back());
  }
  return b_.create(state)->getResult(0);
}

/// A slice that only drops axes of extent 1, of the tile.
Value PartitionEmitter::cloneSlice(SliceOp slice, const AxisMap &map) {
  AxisMap source = *axesBeforeDrop(slice, map);
  Value tile = tileOf(slice.getSource(), source);
  llvm::SmallVector<Value> lengths;
  for (auto [at, length] : llvm::zip(source, slice.getLengths()))
    lengths.push_back(at == kWhole ? length : axis(at).tile);
  return b_.create<SliceOp>(slice.getLoc(), tileType(cast<ArrayType>(slice.getType()), map), tile,
                            slice.getOffsets(), lengths, ValueRange(), Value(),
                            slice.getDroppedAttr());
}

Value PartitionEmitter::cloneMember(Operation *op, const AxisMap &map) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return cloneSlice(slice, map);
  auto maps = *operandAxes(op, map);
  const OpRecord *record = recordOf(op);
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  auto type = tileType(cast<ArrayType>(op->getResult(0).getType()), map);
  for (Type result : op->getResultTypes())
    state.addTypes(tileType(cast<ArrayType>(result), map));
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    // The lengths of a broadcast are those of the tile, not of the array.
    bool isLength = record && record->id == OpId::Broadcast && i > 0;
    if (!isLength)
      state.addOperands(rankOf(operand.getType()) > 0 ? tileOf(operand, maps[i]) : operand);
  }
  // The body of a fold combines single elements, whatever the tile.
  for (Region &region : op->getRegions()) {
    IRMapping none;
    region.cloneInto(state.addRegion(), none);
  }
  if (record && record->id == OpId::Broadcast)
    for (size_t i = 0; i < map.size(); ++i)
      if (!type.getExtents()[i].isConstant())
        state.addOperands(map[i] == kWhole ? lengthOf(b_, op->getResult(0), static_cast<int64_t>(i))
                                           : axis(map[i]).tile);
  return b_.create(state)->getResult(0);
}

/// The part of a value that the tile needs: computed here for members and views, cut out for
/// others.
Value PartitionEmitter::tileOf(Value value, const AxisMap &map) {
  Operation *op = value.getDefiningOp();
  bool isMember = op && group_->contains(op);
  // What two members need is computed once.
  if (isMember)
    if (Value known = tiles_.lookup(value))
      return known;
  bool isMapped = llvm::any_of(map, [](int64_t axis) { return axis != kWhole; });
  Value tile;
  if (op && isMapped && isFill(op))
    tile = cloneCreation(op, map);
  else if (isMember)
    tile = cloneMember(op, map);
  // A view whose axes can be mapped is taken again on the tile's part.
  else if (op && isMapped && isView(op) && operandAxes(op, map))
    tile = cloneMember(op, map);
  else if (PadOp pad = isMapped ? paddedForElements(op, *group_) : PadOp())
    tile = slicePadded(pad, map);
  else
    tile = sliceOf(value, map);
  if (isMember)
    tiles_[value] = tile;
  return tile;
}

void PartitionEmitter::emitGroup(llvm::ArrayRef<StoreOp> stores) {
  Operation *root = group_->root();
  Value first = tileOf(root->getResult(0), group_->mapOf(root));
  for (size_t number = 0; number < stores.size(); ++number) {
    StoreOp into = stores[number];
    // What has several results is a member, whose clone has as many.
    Value tile =
        number == 0 ? first : first.getDefiningOp()->getResult(static_cast<unsigned>(number));
    TileBox box = boxOfTile(into, group_->mapOf(group_->root()));
    stored_.push_back(b_.create<StoreOp>(into.getLoc(), tile, into.getRef(), box.offsets,
                                         box.lengths, box.steps, Value(), into.getDroppedAttr(),
                                         IntegerAttr(), StringAttr()));
  }
}

/// The stores stand at the end, side by side, so that one loop over elements may do several of them.
void PartitionEmitter::emitCode(llvm::ArrayRef<RootStores> stores) {
  emitGrid(stores);
  for (StoreOp store : stored_)
    store->moveBefore(store->getBlock()->getTerminator());
}

} // namespace ptl::ir
