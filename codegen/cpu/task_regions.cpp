#include "codegen/cpu/task_regions.h"

using namespace mlir;

namespace ptl::cpu {

TaskRegions::TaskRegions(Lowering &lowering, ir::ParallelOp grid) : l_(lowering), grid_(grid) {
  grid->walk([&](Operation *op) {
    if (isa<ir::LoadOp, ir::StoreOp>(op) && seen_.insert(op).second)
      accesses_.push_back(op);
    for (Value operand : op->getOperands())
      if (isa<ir::ArrayType>(operand.getType()) && isOutside(operand))
        visitOutside(operand);
  });
}

bool TaskRegions::isOutside(Value value) const {
  return !grid_ || !grid_->isAncestor(value.getParentBlock()->getParentOp());
}

/// Values from outside are computed in the grid, or views of what they read.
void TaskRegions::visitOutside(Value value) {
  Operation *op = value.getDefiningOp();
  // Arguments are read-only, and what loops carry has memory of its own; but the results of a
  // `while` may be views of anything.
  if (auto argument = dyn_cast<BlockArgument>(value))
    isOpaque_ |= isa<scf::WhileOp>(argument.getOwner()->getParentOp());
  isOpaque_ |= op && isa<scf::WhileOp>(op);
  if (!op || !seen_.insert(op).second)
    return;
  if (isa<ir::LoadOp>(op)) {
    accesses_.push_back(op);
    return;
  }
  if (op->getNumRegions() != 0)
    return;
  for (Value operand : op->getOperands())
    if (isa<ir::ArrayType>(operand.getType()))
      visitOutside(operand);
}

// --- bounds of positions ------------------------------------------------------------------------

TaskRegions::Range TaskRegions::rangeOf(Value value) {
  if (auto found = ranges_.find(value); found != ranges_.end())
    return found->second;
  Range range;
  if (auto constant = constantOf(value)) {
    range.low = range.high = l_.index(*constant);
  } else if (isOutside(value)) {
    range.low = range.high = l_.scalarOf(value);
  } else if (auto position = dyn_cast<BlockArgument>(value)) {
    range = rangeOfPosition(position);
  } else {
    range = rangeOfOp(value.getDefiningOp());
  }
  return ranges_[value] = range;
}

TaskRegions::Range TaskRegions::rangeOfPosition(BlockArgument position) {
  Operation *parent = position.getOwner()->getParentOp();
  Value lower, upper;
  if (auto grid = dyn_cast<ir::ParallelOp>(parent)) {
    lower = grid.getLower()[position.getArgNumber()];
    upper = grid.getUpper()[position.getArgNumber()];
  } else if (auto loop = dyn_cast<scf::ForOp>(parent); loop && position == loop.getInductionVar()) {
    lower = loop.getLowerBound();
    upper = loop.getUpperBound();
  } else {
    return {};
  }
  Range first = rangeOf(lower), last = rangeOf(upper);
  if (!first || !last)
    return {};
  return {first.low, l_.e.sub(last.high, l_.index(1))};
}

TaskRegions::Range TaskRegions::rangeOfOp(Operation *op) {
  const Emit &e = l_.e;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op) ||
      !op->getResult(0).getType().isIndex())
    return {};
  Range x = rangeOf(op->getOperand(0)), y = rangeOf(op->getOperand(1));
  // A minimum has the bounds of either side where the other is unknown above.
  if (isa<arith::MinSIOp>(op) && x && y)
    return {e.b.createOrFold<arith::MinSIOp>(e.loc, x.low, y.low),
            e.b.createOrFold<arith::MinSIOp>(e.loc, x.high, y.high)};
  if (!x || !y)
    return {};
  if (isa<arith::MaxSIOp>(op))
    return {e.b.createOrFold<arith::MaxSIOp>(e.loc, x.low, y.low),
            e.b.createOrFold<arith::MaxSIOp>(e.loc, x.high, y.high)};
  if (isa<arith::AddIOp>(op))
    return {e.add(x.low, y.low), e.add(x.high, y.high)};
  if (isa<arith::SubIOp>(op))
    return {e.sub(x.low, y.high), e.sub(x.high, y.low)};
  for (auto [factor, other] : {std::pair(op->getOperand(1), x), std::pair(op->getOperand(0), y)})
    if (auto constant = constantOf(factor); constant && *constant >= 0)
      return {e.mul(other.low, l_.index(*constant)), e.mul(other.high, l_.index(*constant))};
  return {};
}

/// `offset + length` where length is what is left of `u` behind the offset: not beyond `u`.
Value TaskRegions::endOfTail(Value offset, Value length) {
  auto rest = length.getDefiningOp<arith::SubIOp>();
  if (!rest)
    return {};
  Range end = rangeOf(rest.getLhs());
  if (!end)
    return {};
  if (rest.getRhs() == offset)
    return end.high;
  auto sum = offset.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return {};
  for (auto [position, base] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (position == rest.getRhs())
      if (Range shift = rangeOf(base))
        return l_.e.add(shift.high, end.high);
  return {};
}

Value TaskRegions::endOf(Value offset, Value length) {
  if (Value end = endOfTail(offset, length))
    return end;
  if (auto least = length.getDefiningOp<arith::MinSIOp>())
    for (Value side : least->getOperands())
      if (Value end = endOfTail(offset, side))
        return end;
  Range first = rangeOf(offset), count = rangeOf(length);
  return first && count ? l_.e.add(first.high, count.high) : Value();
}

AxisBounds TaskRegions::axisOf(Value offset, Value length, Value step) {
  const Emit &e = l_.e;
  bool isUnit = !step || constantOf(step) == 1;
  if (isOutside(offset) && isOutside(length) && (!step || isOutside(step)))
    return {l_.scalarOf(offset), l_.scalarOf(length), step ? l_.scalarOf(step) : l_.index(1)};
  Range first = rangeOf(offset);
  Value end;
  if (isUnit) {
    end = endOf(offset, length);
  } else if (Range count = rangeOf(length), stride = rangeOf(step); first && count && stride) {
    Value span = e.mul(e.sub(count.high, l_.index(1)), stride.high);
    end = e.add(e.add(first.high, span), l_.index(1));
  }
  if (!first || !end)
    return {};
  return {first.low, e.sub(end, first.low), l_.index(1)};
}

// --- boxes --------------------------------------------------------------------------------------

RegionBounds TaskRegions::boxOf(Operation *op) {
  RegionBounds box;
  auto load = dyn_cast<ir::LoadOp>(op);
  auto store = dyn_cast<ir::StoreOp>(op);
  ValueRange offsets = load ? load.getOffsets() : store.getOffsets();
  ValueRange lengths = load ? load.getLengths() : store.getLengths();
  ValueRange steps = load ? load.getSteps() : store.getSteps();
  box.isWritten = static_cast<bool>(store);
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    bool isScattered =
        store && store.getIndexAxis() && *store.getIndexAxis() == static_cast<int64_t>(axis);
    box.axes.push_back(
        isScattered ? AxisBounds()
                    : axisOf(offsets[axis], lengths[axis], steps.empty() ? Value() : steps[axis]));
  }
  return box;
}

std::optional<SmallVector<RegionBounds, 4>> TaskRegions::of(Value ref) {
  if (isOpaque_)
    return std::nullopt;
  SmallVector<RegionBounds, 4> boxes;
  for (Operation *op : accesses_) {
    auto load = dyn_cast<ir::LoadOp>(op);
    if ((load ? load.getRef() : cast<ir::StoreOp>(op).getRef()) == ref)
      boxes.push_back(boxOf(op));
  }
  if (boxes.empty())
    return std::nullopt;
  return boxes;
}

std::optional<SmallVector<RegionBounds, 4>> TaskRegions::ofStore(Lowering &lowering,
                                                                 ir::StoreOp store, Value ref) {
  TaskRegions regions(lowering, static_cast<Operation *>(nullptr));
  regions.accesses_.push_back(store);
  for (Value operand : store->getOperands())
    if (isa<ir::ArrayType>(operand.getType()))
      regions.visitOutside(operand);
  return regions.of(ref);
}

RegionBounds TaskRegions::ofLoad(Lowering &lowering, ir::LoadOp load) {
  return TaskRegions(lowering, static_cast<Operation *>(nullptr)).boxOf(load);
}

} // namespace ptl::cpu
