// Tiles of the members of a group: what is computed, loaded, made anew and folded.
#include "passes/transform/groups/chunk_tiles.h"

#include "ir/dialect/make_op.h"
#include "passes/transform/combiners.h"
#include "passes/transform/legalize/legalize.h"
#include "passes/transform/whole_storage.h"

#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ptl::ir {

// ---- types --------------------------------------------------------------------------------------

llvm::SmallVector<Extent> ChunkEmitter::extentsOf(const AxisMap &map) const {
  // A tile is a matrix, so it has two extents; axes that it lacks have extent 1.
  llvm::SmallVector<Extent> extents(2, Extent::constant(1));
  for (int64_t id : map)
    if (id != kWhole && axis(id).role != TileAxis::Single)
      // The column's extent is the second one.
      extents[axis(id).role == TileAxis::Col] = axis(id).extent;
  return extents;
}

/// One for each extent that is not a number.
llvm::SmallVector<Value> ChunkEmitter::lengthsOf(const AxisMap &map) const {
  llvm::SmallVector<Value> lengths;
  for (TileAxis::Role role : {TileAxis::Row, TileAxis::Col})
    for (int64_t id : map)
      if (id != kWhole && axis(id).role == role && !axis(id).extent.isConstant())
        lengths.push_back(axis(id).tile);
  return lengths;
}

ArrayType ChunkEmitter::typeOf(Type elem, const AxisMap &map) const {
  return arrayTypeOf(elem, extentsOf(map));
}

namespace {
/// What is made is at the place of the value that it is part of.
class LocationScope {
public:
  LocationScope(Location &present, Value value) : present_(present), saved_(present) {
    present_ = value.getLoc();
  }
  ~LocationScope() { present_ = saved_; }

private:
  Location &present_;
  Location saved_;
};
} // namespace

// ---- elementwise --------------------------------------------------------------------------------

Value ChunkEmitter::make(llvm::StringRef name, Type elem, ValueRange operands) {
  return makeOp(b_, loc_, name, arrayTypeOf(elem, legalize::Tiles::broadcastExtents(operands)),
                operands);
}

/// The result is as large as the operands make it: what only repeats is not repeated yet.
Value ChunkEmitter::cloneElementwise(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    state.addOperands(operandTile(op, i));
  state.addTypes(arrayTypeOf(elementTypeOf(op->getResult(0).getType()),
                             legalize::Tiles::broadcastExtents(state.operands)));
  return b_.create(state)->getResult(0);
}

Value ChunkEmitter::cloneScan(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  AxisMap map = group_->mapOf(op);
  int64_t id = map[axisAlong(op)];
  if (id == kWhole) { // along one position: nothing changes
    Type type = elementTypeOf(op->getResult(0).getType());
    if (isa<ArgsortOp>(op))
      return filled(b_.create<arith::ConstantOp>(op->getLoc(), b_.getZeroAttr(type)), map);
    return spread(operandTile(op, 0), map);
  }
  bool isRow = axis(id).role == TileAxis::Row;
  if (op->hasAttr("axis"))
    state.attributes.set("axis", b_.getI64IntegerAttr(isRow ? 0 : 1));
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value tile = operandTile(op, i);
    // A scan reads each position, so operands that only repeat are filled up first.
    state.addOperands(isa<ArrayType>(tile.getType()) ? spread(tile, map) : tile);
  }
  state.addTypes(typeOf(elementTypeOf(op->getResult(0).getType()), map));
  return b_.create(state)->getResult(0);
}

/// Both operands are loaded as matrices, whole along what is contracted. The product has the rows of
/// the left operand and the columns of the right one; where the group has them the other way round,
/// it is transposed.
Value ChunkEmitter::cloneProduct(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (unsigned i = 0; i < 2; ++i) {
    // The operand is loaded as a box of memory, since products take theirs from there.
    AxisMap map = group_->operandMap(op, i);
    Access access;
    access.origin = op->getOperand(i);
    // Tags say which of the operand's axes become rows (1) and columns (2) of the matrix.
    // Only the last two axes get a tag above 0: those before are of the batch and have one position in a tile.
    for (size_t axis = 0; axis < map.size(); ++axis)
      access.axes.push_back({map[axis], {}, {}, static_cast<int>(axis + 3 - map.size())});
    for (AxisAccess &axis : access.axes)
      axis.tag = std::max(axis.tag, 0);
    LocationScope scope(loc_, access.origin);
    state.addOperands(load(originOf(access, &b_)));
  }
  AxisMap map = group_->mapOf(op);
  // Batch axes have one position in a tile and are dropped.
  map.erase(map.begin(), map.end() - 2);
  llvm::SmallVector<Extent> extents;
  for (int64_t id : map)
    extents.push_back(id == kWhole ? Extent::constant(1)
                                   : extentsOf({id})[axis(id).role == TileAxis::Col]);
  Type elem = elementTypeOf(op->getResult(0).getType());
  state.addTypes(arrayTypeOf(elem, extents));
  Value product = b_.create(state)->getResult(0);
  auto hasRole = [&](int64_t id, TileAxis::Role role) {
    return id != kWhole && axis(id).role == role;
  };
  // The rows of a product may be the columns of the group that it is part of.
  bool isTurned = hasRole(map.front(), TileAxis::Col) || hasRole(map.back(), TileAxis::Row);
  return isTurned ? transposed(b_, loc_, product) : product;
}

Value ChunkEmitter::tileOf(Operation *member) {
  // Scopes are searched from the inside out, since what an outer loop computed holds inside.
  for (auto &scope : llvm::reverse(members_))
    if (Value known = scope.lookup(member))
      return known;
  Value tile = isReduction(member) ? fold(member)
               : isProduct(member) ? cloneProduct(member)
               : isScan(member)    ? cloneScan(member)
                                   : cloneElementwise(member);
  // The tile belongs to the innermost scope, and is computed again in the next turn.
  return members_.back()[member] = tile;
}

Value ChunkEmitter::operandTile(Operation *op, unsigned operand) {
  Value value = op->getOperand(operand);
  if (!isa<ArrayType>(value.getType()))
    return value;
  for (auto &scope : llvm::reverse(operands_))
    if (Value known = scope.lookup({op, operand}))
      return known;
  return operands_.back()[{op, operand}] = tileOf(value, group_->operandMap(op, operand));
}

/// The part of a value that the tile needs.
Value ChunkEmitter::tileOf(Value value, const AxisMap &map) {
  LocationScope scope(loc_, value);
  Access access = originOf(value, map, &b_);
  Operation *origin = access.origin.getDefiningOp();
  // What fills an array is made anew for the tile, which costs less than loading it.
  if (origin && isFill(origin))
    return fill(origin, access);
  if (origin && group_->contains(origin) && isTiled(origin))
    return tileOf(origin);
  for (AxisAccess &own : access.axes)
    // Only axes with several positions appear in the loaded matrix.
    if (own.id != kWhole && !axis(own.id).extent.isOne())
      own.tag = axis(own.id).role;
  return load(access);
}

// ---- from elsewhere -----------------------------------------------------------------------------

Value ChunkEmitter::filled(Value scalar, const AxisMap &map) {
  llvm::SmallVector<Value> operands = lengthsOf(map);
  operands.push_back(scalar);
  return makeOp<FullOp>(b_, loc_, typeOf(scalar.getType(), map), operands);
}

/// Constants and positions.
Value ChunkEmitter::fill(Operation *op, const Access &access) {
  Type elem = elementTypeOf(op->getResult(0).getType());
  AxisMap map = access.map();
  if (auto full = dyn_cast<FullOp>(op))
    return filled(full.getValue(), map);
  if (!isa<IndexOp>(op))
    return filled(numberOf(b_, loc_, elem, isa<OnesOp>(op) ? 1 : 0), map);
  const AxisAccess &own = access.axes[0];
  Value start = op->getOperand(0);
  Value position = own.id == kWhole ? Value() : axis(own.id).position;
  if (position && own.step)
    // A slice with a step numbers its positions in units of the step.
    position = b_.createOrFold<arith::MulIOp>(loc_, position, own.step);
  for (Value more : {own.offset, position})
    if (more && !matchPattern(more, m_Zero()))
      start =
          matchPattern(start, m_Zero()) ? more : b_.createOrFold<arith::AddIOp>(loc_, start, more);
  // At a single position the index is a scalar.
  if (own.id == kWhole || axis(own.id).extent.isOne()) {
    Value number = b_.createOrFold<arith::IndexCastOp>(loc_, elem, start);
    return filled(number, {});
  }
  const TileAxis &along = axis(own.id);
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  // Positions are numbered from 0 and scaled where a slice takes every n-th.
  state.addOperands(own.step ? constant(0) : start);
  if (!along.extent.isConstant())
    state.addOperands(along.tile);
  state.addTypes(arrayTypeOf(elem, {along.extent}));
  Value row = b_.create(state)->getResult(0);
  // The row of positions becomes a row or a column of the tile.
  int64_t added = along.role == TileAxis::Col ? 0 : 1;
  Value tile = b_.create<NewAxisOp>(loc_, typeOf(elem, map), row, b_.getDenseI64ArrayAttr(added));
  if (!own.step)
    return tile;
  auto scalar = [&](Value v) { return b_.createOrFold<arith::IndexCastOp>(loc_, elem, v); };
  return make(AddOp::getOperationName(), elem,
              {make(MulOp::getOperationName(), elem, {tile, scalar(own.step)}), scalar(start)});
}

Value transposed(OpBuilder &b, Location loc, Value tile) {
  llvm::ArrayRef<Extent> extents = extentsOf(tile.getType());
  auto type = arrayTypeOf(elementTypeOf(tile.getType()), {extents[1], extents[0]});
  return b.create<TransposeOp>(loc, type, tile, b.getDenseI64ArrayAttr({1, 0}));
}

/// A box of global memory: the tagged axes stay, 1 for rows and 2 for columns.
Value ChunkEmitter::load(Access access) {
  llvm::SmallVector<Value> offsets, lengths, steps;
  llvm::SmallVector<int64_t> dropped;
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<int> tags;
  bool hasSteps = false;
  // A value without any axis in the tile still needs one element to load.
  bool isNowhere = llvm::all_of(access.axes, [](const AxisAccess &own) { return own.tag == 0; });
  for (auto [i, own] : llvm::enumerate(access.axes)) {
    Value offset = own.offset ? own.offset : constant(0);
    if (own.id != kWhole && !matchPattern(axis(own.id).position, m_Zero())) {
      Value position = axis(own.id).position;
      if (own.step)
        position = b_.createOrFold<arith::MulIOp>(loc_, position, own.step);
      // The tile begins at the loop's position behind the offset of the view.
      offset = matchPattern(offset, m_Zero())
                   ? position
                   : b_.createOrFold<arith::AddIOp>(loc_, offset, position);
    }
    // The last axis stays if no other does, so that a box of one element is left.
    bool last = i + 1 == access.axes.size();
    bool kept = own.tag != 0 || (isNowhere && last);
    bool runs = own.tag != 0 && own.id != kWhole;
    offsets.push_back(offset);
    lengths.push_back(runs ? axis(own.id).tile : constant(1));
    steps.push_back(runs && own.step ? own.step : constant(1));
    hasSteps |= runs && own.step;
    if (!kept) {
      dropped.push_back(static_cast<int64_t>(i));
      continue;
    }
    extents.push_back(runs ? axis(own.id).extent : Extent::constant(1));
    tags.push_back(own.tag);
  }
  if (!hasSteps)
    steps.clear();
  Type elem = elementTypeOf(access.origin.getType());
  if (access.axes.empty()) // an array of no axes holds a scalar
    return filled(b_.create<SliceOp>(loc_, elem, access.origin, ValueRange(), ValueRange(),
                                     ValueRange(), Value(), b_.getDenseI64ArrayAttr({})),
                  {});
  auto type = arrayTypeOf(elem, extents);
  Value box = loadBox(access, type, offsets, lengths, steps, dropped);
  if (tags.size() == 2)
    // Memory that has columns first is loaded as it lies and transposed on chip.
    return tags[0] == 2 ? transposed(b_, loc_, box) : box;
  // A box of one axis becomes a matrix with an axis of extent 1.
  int64_t added = tags.empty() || tags[0] != 1 ? 0 : 1;
  extents.insert(extents.begin() + added, Extent::constant(1));
  auto matrix = arrayTypeOf(type.getElementType(), extents);
  return b_.create<NewAxisOp>(loc_, matrix, box, b_.getDenseI64ArrayAttr(added));
}

/// Whether a load can be done by the grid itself: nothing has changed the storage since, and of
/// what the grid writes each tile reads only its own place.
bool ChunkEmitter::readsStorage(LoadOp load, const Access &access) {
  // `isUnchangedUntil` needs an operation of the load's block: the branch, where the grid is in an arm of it. Other grids of the arm only
  // write partial results, to storage of their own.
  Operation *reader = grid_;
  if (branch_ && load->getBlock() == branch_->getBlock())
    reader = branch_;
  // What is only moved is a part of memory for those who read it, and is not moved at all where it stays an array.
  if (load->getBlock() != reader->getBlock() && !isTiled(group_->root()))
    return false;
  if (!load.getSteps().empty() || !load.getDropped().empty() || load.getOutside() ||
      !isUnchangedUntil(load, reader))
    return false;
  if (!llvm::is_contained(written_, load.getRef()))
    return true;
  auto isZero = [](Value offset) { return matchPattern(offset, m_Zero()); };
  // A tile may read what the grid writes only at its own place, which no other tile writes.
  return groups_.size() == 1 && load.getRef() == into_.getRef() && !access.isBox &&
         into_.getDropped().empty() && into_.getSteps().empty() &&
         llvm::all_of(into_.getOffsets(), isZero) && llvm::all_of(load.getOffsets(), isZero) &&
         access.map() == group_->mapOf(group_->root());
}

Value ChunkEmitter::loadBox(const Access &access, ArrayType type, llvm::ArrayRef<Value> offsets,
                            llvm::ArrayRef<Value> lengths, llvm::ArrayRef<Value> steps,
                            llvm::ArrayRef<int64_t> dropped) {
  auto attribute = b_.getDenseI64ArrayAttr(dropped);
  auto read = access.origin.getDefiningOp<LoadOp>();
  if (!read || !readsStorage(read, access))
    return b_.create<SliceOp>(loc_, type, access.origin, offsets, lengths, steps, Value(),
                              attribute);
  llvm::SmallVector<Value> from;
  for (auto [offset, base] : llvm::zip(offsets, read.getOffsets()))
    from.push_back(
        matchPattern(base, m_Zero()) ? offset : b_.createOrFold<arith::AddIOp>(loc_, offset, base));
  return b_.create<LoadOp>(loc_, type, read.getRef(), from, lengths, steps, Value(), attribute);
}

// ---- reductions ---------------------------------------------------------------------------------

/// The tile with all that its axes have.
Value ChunkEmitter::spread(Value tile, const AxisMap &map) {
  llvm::SmallVector<Extent> wanted = extentsOf(map);
  if (llvm::equal(ir::extentsOf(tile.getType()), wanted))
    return tile;
  // Extents of 1 tell apart what repeats; all other extents agree within a group.
  bool same = llvm::all_of(llvm::zip(ir::extentsOf(tile.getType()), wanted), [](auto pair) {
    return std::get<0>(pair).isOne() == std::get<1>(pair).isOne();
  });
  if (same)
    return tile;
  OperationState state(loc_, BroadcastOp::getOperationName());
  state.addOperands(tile);
  state.addOperands(lengthsOf(map));
  state.addTypes(typeOf(elementTypeOf(tile.getType()), map));
  return b_.create(state)->getResult(0);
}

/// The present chunk, folded.
Value ChunkEmitter::fold(Operation *reduction) {
  AxisMap map = group_->operandMap(reduction, 0);
  Value tile = spread(operandTile(reduction, 0), map);
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<Extent> extents(ir::extentsOf(tile.getType()));
  for (int64_t id : group_->foldedBy(reduction)) {
    // Axes that have one position in the tile are folded by the loop around it.
    if (axis(id).role == TileAxis::Single || axis(id).extent.isOne())
      continue;
    axes.push_back(axis(id).role == TileAxis::Col);
    extents[static_cast<size_t>(axes.back())] = Extent::constant(1);
  }
  Type elem = elementTypeOf(reduction->getResult(0).getType());
  // Searches (argmax) have one axis, sums a list of them.
  bool searches = reduction->hasAttr("axis");
  if (axes.empty() && !searches)
    return tile;
  if (axes.empty()) { // one position: the first
    return filled(numberOf(b_, loc_, elem, 0), group_->mapOf(reduction));
  }
  llvm::sort(axes);
  OperationState state(reduction->getLoc(), reduction->getName());
  state.addOperands(tile);
  if (searches)
    state.addAttribute("axis", b_.getI64IntegerAttr(axes.front()));
  else
    state.addAttribute("axes", b_.getDenseI64ArrayAttr(axes));
  state.addTypes(arrayTypeOf(elem, extents));
  return b_.create(state)->getResult(0);
}

Value foldAlong(OpBuilder &builder, Location loc, Value tile, llvm::StringRef combiner,
                TileAxis::Role role) {
  llvm::SmallVector<Extent> extents(extentsOf(tile.getType()));
  int64_t axis = role == TileAxis::Col;
  // One position is folded already.
  if (extents[static_cast<size_t>(axis)].isOne())
    return tile;
  extents[static_cast<size_t>(axis)] = Extent::constant(1);
  return makeOp(builder, loc, reductionBy(combiner),
                arrayTypeOf(elementTypeOf(tile.getType()), extents), tile,
                {builder.getNamedAttr("axes", builder.getDenseI64ArrayAttr(axis))});
}

/// The present chunk of what a scan runs over, folded.
Value ChunkEmitter::foldScanned(Operation *scan) {
  AxisMap map = group_->mapOf(scan);
  return foldAlong(b_, loc_, spread(operandTile(scan, 0), map), combinerOf(scan),
                   axis(map[axisAlong(scan)]).role);
}

/// What joins with anything without changing it.
Value ChunkEmitter::identity(llvm::StringRef combiner, Type elem, const AxisMap &map) {
  return filled(identityValue(b_, loc_, combiner, elem), map);
}

/// What the loop of a reduction begins with; searches carry the value and its position.
llvm::SmallVector<Value> ChunkEmitter::begin(Operation *reduction) {
  LocationScope scope(loc_, reduction->getResult(0));
  Type elem = elementTypeOf(reduction->getOperand(0).getType());
  // The position -1 says that nothing has been found yet.
  llvm::SmallVector<Value> carried = {
      identity(combinerOf(reduction), elem, group_->mapOf(reduction))};
  if (reduction->hasAttr("axis")) {
    Type positions = elementTypeOf(reduction->getResult(0).getType());
    carried.insert(carried.begin(),
                   filled(numberOf(b_, loc_, positions, -1), group_->mapOf(reduction)));
  }
  return carried;
}

llvm::SmallVector<Value> ChunkEmitter::combine(Operation *reduction,
                                               llvm::ArrayRef<Value> carried) {
  LocationScope scope(loc_, reduction->getResult(0));
  llvm::StringRef combiner = combinerOf(reduction);
  Type elem = elementTypeOf(reduction->getOperand(0).getType());
  if (!reduction->hasAttr("axis"))
    return {make(combiner, elem, {carried[0], fold(reduction)})};
  // A later chunk wins only if it is better: ties go to the lowest position.
  int64_t id = group_->foldedBy(reduction).front();
  Type positions = elementTypeOf(reduction->getResult(0).getType());
  bool largest = combiner == MaxOp::getOperationName();
  Value part = fold(reduction);
  Value best = spread(operandTile(reduction, 0), group_->operandMap(reduction, 0));
  if (axis(id).role != TileAxis::Single && !axis(id).extent.isOne()) {
    best = makeOp(
        b_, loc_, largest ? ReduceMaxOp::getOperationName() : ReduceMinOp::getOperationName(),
        arrayTypeOf(elem, ir::extentsOf(part.getType())), best,
        {b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(axis(id).role == TileAxis::Col))});
  }
  // Positions in the chunk count from its begin.
  Value from = b_.createOrFold<arith::IndexCastOp>(loc_, positions, axis(id).position);
  Value at = make(AddOp::getOperationName(), positions, {part, from});
  Type mask = b_.getI1Type();
  Value better =
      make(largest ? GtOp::getOperationName() : LtOp::getOperationName(), mask, {best, carried[1]});
  // The first chunk always wins, since no position has been found before it.
  Value none = make(LtOp::getOperationName(), mask, {carried[0], numberOf(b_, loc_, positions, 0)});
  Value wins = make(OrOp::getOperationName(), mask, {better, none});
  return {make(SelectOp::getOperationName(), positions, {wins, at, carried[0]}),
          make(SelectOp::getOperationName(), elem, {wins, best, carried[1]})};
}

} // namespace ptl::ir
