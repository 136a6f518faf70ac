#include "passes/lower_block/part_of_value.h"

#include "passes/analysis/axis_map.h"
#include "passes/analysis/kept_axis.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

std::optional<int64_t> tileBytes(Type type) {
  Type element = elementTypeOf(type);
  int64_t bytes = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
  for (const Extent &extent : ir::extentsOf(type)) {
    if (extent.capacity == Extent::kUnknown)
      return std::nullopt;
    bytes *= std::max<int64_t>(1, extent.capacity);
  }
  return bytes;
}

static bool isInside(Value value, ParallelOp grid) {
  return grid->isAncestor(value.getParentRegion()->getParentOp());
}

static int64_t baseAxisOf(Operation *op, int64_t axis) {
  if (auto load = dyn_cast<LoadOp>(op))
    return keptAxis(load.getDropped(), rankOf(load.getRef().getType()), axis);
  auto slice = cast<SliceOp>(op);
  return keptAxis(slice.getDropped(), rankOf(slice.getSource().getType()), axis);
}

/// The map of a result of which one axis is in parts.
static AxisMap alone(Value value, int64_t axis) {
  AxisMap map(static_cast<size_t>(rankOf(value.getType())), kWhole);
  map[static_cast<size_t>(axis)] = 0;
  return map;
}

// ---- how a part is made -------------------------------------------------------------------------

/// Whether two positions are computed in the same way.
static bool isSamePosition(Value a, Value b) {
  if (a == b)
    return true;
  APInt x, y;
  if (matchPattern(a, m_ConstantInt(&x)) && matchPattern(b, m_ConstantInt(&y)))
    return x.getSExtValue() == y.getSExtValue();
  auto left = a.getDefiningOp<arith::AddIOp>(), right = b.getDefiningOp<arith::AddIOp>();
  return left && right && isSamePosition(left.getLhs(), right.getLhs()) &&
         isSamePosition(left.getRhs(), right.getRhs());
}

/// Whether the load reads the same where the part is made: nothing is stored to that array in
/// between. What the anchor itself stores is the box that was loaded, and each part its own.
bool PartMaker::mayLoadHere(LoadOp load, int64_t axis, bool shifted) {
  Value ref = load.getRef();
  auto stores = [&](Operation *op) {
    bool found = false;
    op->walk([&](StoreOp store) { found |= store.getRef() == ref && store != anchor_; });
    return found;
  };
  auto own = dyn_cast<StoreOp>(anchor_);
  // The store changes what the load reads, unless each part loads exactly the box that it stores
  // afterwards.
  if (own && own.getRef() == ref) {
    if (shifted || load.getOutside() || own.getIndex() || own.getAtomic() ||
        !load.getSteps().empty() || !own.getSteps().empty() ||
        !llvm::equal(load.getOffsets(), own.getOffsets(), isSamePosition) ||
        load.getDropped() != own.getDropped() ||
        rankOf(load.getType()) != rankOf(own.getValue().getType()) ||
        load->getBlock() != own->getBlock() || axis != ownAxis_)
      return false;
  }
  // Around loops the order of accesses is not that of the text, so no store may be anywhere.
  if (load->getBlock() != anchor_->getBlock())
    return !stores(grid_) && !(own && own.getRef() == ref);
  for (Operation *op = load->getNextNode(); op && op != anchor_; op = op->getNextNode())
    if (stores(op))
      return false;
  return true;
}

/// The axis of a reshaped value that is axis `axis` of the result: what lies before it, or behind
/// it, is on both sides the same.
static int64_t reshapedAxis(ReshapeOp op, int64_t axis) {
  auto axesOf = [](Value value) {
    llvm::SmallVector<int64_t> axes;
    for (auto [i, extent] : llvm::enumerate(ir::extentsOf(value.getType())))
      if (!extent.isOne())
        axes.push_back(static_cast<int64_t>(i));
    return axes;
  };
  Value source = op.getX();
  llvm::SmallVector<int64_t> from = axesOf(source), to = axesOf(op);
  auto same = [&](int64_t a, int64_t b) {
    return ir::extentsOf(source.getType())[static_cast<size_t>(a)] ==
           ir::extentsOf(op.getType())[static_cast<size_t>(b)];
  };
  int64_t front = 0, back = 0, most = static_cast<int64_t>(std::min(from.size(), to.size()));
  auto fromEnd = [](llvm::ArrayRef<int64_t> axes, int64_t i) {
    return axes[axes.size() - 1 - static_cast<size_t>(i)];
  };
  // Axes of equal length at either end are the same axes.
  while (front < most && same(from[static_cast<size_t>(front)], to[static_cast<size_t>(front)]))
    ++front;
  while (front + back < most && same(fromEnd(from, back), fromEnd(to, back)))
    ++back;
  // If one axis is left on each side, its length follows from the others.
  if (from.size() == to.size() && front + back + 1 == most)
    ++front;
  for (int64_t i = 0; i < front; ++i)
    if (to[static_cast<size_t>(i)] == axis)
      return from[static_cast<size_t>(i)];
  for (int64_t i = 0; i < back; ++i)
    if (fromEnd(to, i) == axis)
      return fromEnd(from, i);
  return kWhole;
}

/// The operands of which parts are needed, with their axes. Nothing if a part of the result cannot
/// be computed of parts.
static std::optional<llvm::SmallVector<std::pair<unsigned, int64_t>>> partsRead(Operation *op,
                                                                                int64_t axis) {
  llvm::SmallVector<std::pair<unsigned, int64_t>> read;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    int64_t own = reshapedAxis(reshape, axis);
    if (own == kWhole)
      return std::nullopt;
    read.push_back({0, own});
    return read;
  }
  auto maps = operandAxes(op, alone(op->getResult(0), axis));
  if (!maps || maps->size() != op->getNumOperands())
    return std::nullopt;
  for (auto [number, map] : llvm::enumerate(*maps))
    for (auto [own, id] : llvm::enumerate(map))
      if (id != kWhole && isa<ArrayType>(op->getOperand(number).getType()))
        read.push_back({static_cast<unsigned>(number), static_cast<int64_t>(own)});
  return read;
}

/// Whether a box has all of an axis of what it is of.
static bool isWholeAxis(SliceOp slice, int64_t axis) {
  int64_t base = baseAxisOf(slice, axis);
  return matchPattern(slice.getOffsets()[static_cast<unsigned>(base)], m_Zero()) &&
         ir::extentsOf(slice.getType())[static_cast<size_t>(axis)] ==
             ir::extentsOf(slice.getSource().getType())[static_cast<size_t>(base)];
}

PartMaker::Kind PartMaker::kindOf(Value value, int64_t axis, bool shifted) {
  Operation *op = value.getDefiningOp();
  // What comes from outside, or from a loop, is there as a whole.
  if (!op || !isInside(value, grid_) || op->getNumResults() != 1 || op->getNumRegions())
    return Kind::Cut;
  if (auto load = dyn_cast<LoadOp>(op))
    return mayLoadHere(load, axis, shifted) ? Kind::Load : Kind::Cut;
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (!isInside(slice.getSource(), grid_))
      return Kind::Load;
    // Neighbours of the part lie apart in its source, of which a part would have to be longer.
    if (!slice.getSteps().empty())
      return Kind::Cut;
    // A part of a box beyond the edges would need another box.
    return slice.getOutside() && !isWholeAxis(slice, axis) ? Kind::Cut : Kind::Slice;
  }
  if (isa<ZerosOp, OnesOp, FullOp, IndexOp>(op))
    return Kind::Fill;
  if (auto take = dyn_cast<TakeOp>(op))
    // Along its own axis a take has as many positions as its index.
    return static_cast<int64_t>(take.getAxis()) == axis ? Kind::Positions : Kind::Take;
  if (auto concat = dyn_cast<ConcatOp>(op))
    return static_cast<int64_t>(concat.getAxis()) == axis ? Kind::Cut : Kind::Concat;
  const OpRecord *record = recordOf(op);
  // The cube core makes products whole, and random numbers depend on the whole shape.
  if (record && (record->opClass == OpClass::Product || record->id == OpId::Random))
    return Kind::Cut;
  if (!partsRead(op, axis))
    return Kind::Cut;
  return isa<BroadcastOp, ReshapeOp>(op) ? Kind::Fill : Kind::Mapped;
}

// ---- what it takes ------------------------------------------------------------------------------

/// The weight of a tile when one is chosen to stand for the memory that is needed: its bytes, and
/// more if it has a name by which a person can find it.
static int64_t weightOf(Value tile) {
  return tileBytes(tile.getType()).value_or(0) * (block::nameOf(tile.getLoc()).empty() ? 1 : 2);
}

void PartMaker::addCost(Value value, int64_t axis, bool shifted, PartCost &cost) {
  if (!counted_.insert({value, axis}).second)
    return;
  int64_t bytes = tileBytes(value.getType()).value_or(0);
  Kind kind = kindOf(value, axis, shifted);
  if (kind == Kind::Cut) {
    // Arrays in global memory take no memory of the chip.
    cost.kept += isInside(value, grid_) ? bytes : 0;
    cost.cutsConditions |= elementTypeOf(value.getType()).isInteger(1);
    return;
  }
  cost.largest = std::max(cost.largest, bytes);
  if (!cost.tile || weightOf(value) > weightOf(cost.tile))
    cost.tile = value;
  ++cost.count;
  Operation *op = value.getDefiningOp();
  switch (kind) {
  case Kind::Slice:
    return addCost(op->getOperand(0), baseAxisOf(op, axis),
                   shifted || !isWholeAxis(cast<SliceOp>(op), axis), cost);
  case Kind::Positions:
    // Any element may be taken, so the source stays whole.
    if (isInside(op->getOperand(0), grid_))
      cost.kept += tileBytes(op->getOperand(0).getType()).value_or(0);
    return addCost(op->getOperand(1), 0, shifted, cost);
  case Kind::Take:
    return addCost(op->getOperand(0), axis, shifted, cost);
  case Kind::Concat:
    for (Value operand : op->getOperands())
      addCost(operand, axis, shifted, cost);
    return;
  case Kind::Fill:
  case Kind::Mapped:
    if (auto read = partsRead(op, axis))
      for (auto [operand, own] : *read)
        addCost(op->getOperand(operand), own, shifted, cost);
    return;
  default:
    return;
  }
}

PartCost PartMaker::costOf(Value value, int64_t axis) {
  counted_.clear();
  ownAxis_ = axis;
  PartCost cost;
  addCost(value, axis, false, cost);
  return cost;
}

// ---- making it ----------------------------------------------------------------------------------

Type PartMaker::typeOf(Value value, int64_t axis) const {
  auto array = cast<ArrayType>(value.getType());
  llvm::SmallVector<Extent> extents(array.getExtents());
  extents[static_cast<size_t>(axis)] = part_.extent;
  return ArrayType::get(value.getContext(), array.getElementType(), extents, array.getPlace());
}

Value PartMaker::sum(Value a, Value b, Location loc) {
  // Folding by hand keeps equal offsets equal values, by which parts are found again.
  if (matchPattern(a, m_Zero()))
    return b;
  return matchPattern(b, m_Zero()) ? a : b_->createOrFold<arith::AddIOp>(loc, a, b);
}

Value PartMaker::cutOut(Value value, int64_t axis, Value offset) {
  Location loc = value.getLoc();
  llvm::SmallVector<Value> offsets, lengths;
  for (int64_t i = 0; i < rankOf(value.getType()); ++i) {
    offsets.push_back(i == axis ? offset : b_->create<arith::ConstantIndexOp>(loc, 0).getResult());
    // All other axes are taken whole.
    lengths.push_back(i == axis ? part_.length : ir::lengthOf(*b_, value, i));
  }
  return b_->create<SliceOp>(loc, typeOf(value, axis), value, offsets, lengths, ValueRange(),
                             Value(), llvm::ArrayRef<int64_t>());
}

/// The box that `op` reads, from `source`, for the part that begins at `begin`.
Value PartMaker::boxOf(Operation *op, int64_t axis, Value source, Value begin) {
  Operation *copy = b_->clone(*op);
  auto base = static_cast<unsigned>(baseAxisOf(op, axis));
  auto place = [&](auto box) {
    copy->setOperand(0, source);
    copy->setOperand(box.getOffsets().getBeginOperandIndex() + base, begin);
    copy->setOperand(box.getLengths().getBeginOperandIndex() + base, part_.length);
  };
  if (auto load = dyn_cast<LoadOp>(op))
    place(load);
  else
    place(cast<SliceOp>(op));
  copy->getResult(0).setType(typeOf(op->getResult(0), axis));
  return copy->getResult(0);
}

/// The offset in its base of the part of a box that begins `offset` positions behind its own beginning.
Value PartMaker::boxOffset(Operation *op, int64_t axis, Value offset) {
  auto base = static_cast<unsigned>(baseAxisOf(op, axis));
  auto within = [&](auto box) {
    Value step = box.getSteps().empty() ? Value() : box.getSteps()[base];
    Value shift = step ? b_->createOrFold<arith::MulIOp>(op->getLoc(), offset, step) : offset;
    return sum(box.getOffsets()[base], shift, op->getLoc());
  };
  auto load = dyn_cast<LoadOp>(op);
  return load ? within(load) : within(cast<SliceOp>(op));
}

Value PartMaker::clone(Operation *op, int64_t axis, ValueRange operands) {
  Operation *copy = b_->clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(typeOf(op->getResult(0), axis));
  return copy->getResult(0);
}

/// An operation that makes an array has an operand for each length that is no number.
Value PartMaker::fill(Operation *op, int64_t axis, Value offset) {
  Value result = op->getResult(0);
  llvm::ArrayRef<Extent> extents = ir::extentsOf(result.getType());
  auto named =
      static_cast<size_t>(llvm::count_if(extents, [](const Extent &e) { return !e.isConstant(); }));
  bool lengthsFirst = isa<FullOp>(op); // and behind them the value
  llvm::SmallVector<Value> operands;
  if (!lengthsFirst)
    llvm::append_range(operands, op->getOperands().drop_back(named));
  for (auto [i, extent] : llvm::enumerate(extents)) {
    bool own = static_cast<int64_t>(i) == axis;
    // The part may have a constant length where the whole has none, and the other way round.
    if (!(own ? part_.extent : extent).isConstant())
      operands.push_back(own ? part_.length : ir::lengthOf(*b_, result, static_cast<int64_t>(i)));
  }
  if (lengthsFirst)
    llvm::append_range(operands, op->getOperands().drop_front(named));
  if (isa<IndexOp>(op))
    // A part of a range begins at its own position.
    operands[0] = sum(operands[0], offset, op->getLoc());
  if (isa<BroadcastOp, ReshapeOp>(op)) {
    auto read = partsRead(op, axis);
    for (auto [operand, own] : *read)
      operands[operand] = partOf(operands[operand], own, offset);
  }
  return clone(op, axis, operands);
}

Value PartMaker::makeNew(Kind kind, Value value, int64_t axis, Value offset) {
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<Value> operands(op->getOperands());
  switch (kind) {
  case Kind::Load:
    return boxOf(op, axis, operands[0], boxOffset(op, axis, offset));
  case Kind::Slice: {
    Value begin = boxOffset(op, axis, offset);
    int64_t base = baseAxisOf(op, axis);
    // A part of the source would only be a copy of it.
    if (!isMade(operands[0], base))
      return boxOf(op, axis, operands[0], begin);
    Value source = partOf(operands[0], base, begin);
    return boxOf(op, axis, source, b_->create<arith::ConstantIndexOp>(op->getLoc(), 0));
  }
  case Kind::Fill:
    return fill(op, axis, offset);
  case Kind::Positions:
    operands[1] = partOf(operands[1], 0, offset);
    return clone(op, axis, operands);
  case Kind::Take:
    operands[0] = partOf(operands[0], axis, offset);
    return clone(op, axis, operands);
  case Kind::Concat:
    for (Value &operand : operands)
      operand = partOf(operand, axis, offset);
    return clone(op, axis, operands);
  default:
    break;
  }
  auto read = partsRead(op, axis);
  for (auto [operand, own] : *read)
    operands[operand] = partOf(operands[operand], own, offset);
  return clone(op, axis, operands);
}

Value PartMaker::partOf(Value value, int64_t axis, Value offset) {
  auto &known = made_[{value, axis}];
  for (auto [from, part] : known)
    // Values that are used several times are made once for each offset.
    if (from == offset)
      return part;
  Kind kind = kindOf(value, axis, offset != offset_);
  Value made = kind == Kind::Cut ? cutOut(value, axis, offset) : makeNew(kind, value, axis, offset);
  // Making the operands may have moved the entry that `known` refers to.
  made_[{value, axis}].push_back({offset, made});
  return made;
}

Value PartMaker::make(OpBuilder &builder, Value value, int64_t axis, Value offset,
                      const PartLength &part) {
  made_.clear();
  b_ = &builder;
  part_ = part;
  offset_ = offset;
  ownAxis_ = axis;
  return partOf(value, axis, offset);
}

} // namespace ptl::block
