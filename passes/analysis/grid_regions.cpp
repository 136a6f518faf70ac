#include "passes/analysis/grid_regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

static Value arrayOf(Operation *op) {
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return store.getRef();
  return op->getOperand(0);
}

GridRegions::GridRegions(PositionArithmetic &arithmetic, OutsideArrays outside, Operation *grid)
    : a_(arithmetic), outside_(outside), grid_(grid) {
  grid->walk([&](Operation *op) { take(op); });
}

void GridRegions::take(Operation *op) {
  // An access may be reached several times: as an operation of the grid and behind a value from
  // outside.
  if (isa<ir::LoadOp, ir::StoreOp>(op) && seen_.insert(op).second)
    accesses_.push_back(op);
  for (OpOperand &use : op->getOpOperands()) {
    Value operand = use.get();
    if (!ir::isArrayLike(operand.getType()) || !isOutside(operand))
      continue;
    if (outside_ == OutsideArrays::Computed) {
      if (isa<ir::ArrayType>(operand.getType()))
        visitOutside(operand);
    } else if (isa<ir::SliceOp>(op) && use.getOperandNumber() == 0) {
      accesses_.push_back(op);
    } else if (!isa<ir::LoadOp, ir::DimOp>(op) &&
               !(isa<ir::StoreOp>(op) && arrayOf(op) == operand)) {
      // Other operations use the array as a whole.
      whole_.insert(operand);
    }
  }
}

bool GridRegions::isOutside(Value value) const {
  // Without a grid, no value is inside, so every value counts as computed outside.
  return !grid_ || !grid_->isAncestor(value.getParentBlock()->getParentOp());
}

/// Values from outside are computed in the grid, or views of what they read.
void GridRegions::visitOutside(Value value) {
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

GridRegions::Range GridRegions::rangeOf(Value value) {
  if (auto found = ranges_.find(value); found != ranges_.end())
    return found->second;
  Range range;
  // Each value has its bounds by interval arithmetic over the positions.
  if (auto constant = getConstantIntValue(value)) {
    range.low = range.high = a_.constant(*constant);
  } else if (isOutside(value)) {
    range.low = range.high = a_.outside(value);
  } else if (auto position = dyn_cast<BlockArgument>(value)) {
    range = rangeOfPosition(position);
  } else {
    range = rangeOfOp(value.getDefiningOp());
  }
  return ranges_[value] = range;
}

GridRegions::Range GridRegions::rangeOfPosition(BlockArgument position) {
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
  // The upper bound of a loop is exclusive.
  Range first = rangeOf(lower), last = rangeOf(upper);
  if (!first || !last)
    return {};
  return {first.low, a_.sub(last.high, a_.constant(1))};
}

GridRegions::Range GridRegions::rangeOfOp(Operation *op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op) ||
      !op->getResult(0).getType().isIndex())
    return {};
  Range x = rangeOf(op->getOperand(0)), y = rangeOf(op->getOperand(1));
  // The minimum of two intervals has the smaller bound at each end.
  if (isa<arith::MinSIOp>(op) && x && y)
    return {a_.min(x.low, y.low), a_.min(x.high, y.high)};
  if (!x || !y)
    return {};
  if (isa<arith::MaxSIOp>(op))
    return {a_.max(x.low, y.low), a_.max(x.high, y.high)};
  if (isa<arith::AddIOp>(op))
    return {a_.add(x.low, y.low), a_.add(x.high, y.high)};
  if (isa<arith::SubIOp>(op))
    return {a_.sub(x.low, y.high), a_.sub(x.high, y.low)};
  // A negative factor would swap the bounds, so only the others are followed.
  for (auto [factor, other] : {std::pair(op->getOperand(1), x), std::pair(op->getOperand(0), y)})
    if (auto constant = getConstantIntValue(factor); constant && *constant >= 0)
      return {a_.mul(other.low, a_.constant(*constant)),
              a_.mul(other.high, a_.constant(*constant))};
  return {};
}

/// `offset + length` where length is what is left of `u` behind the offset: not beyond `u`.
GridRegions::Number GridRegions::endOfTail(Value offset, Value length) {
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
       // The offset is `base + x` and the rest counts from `x`, so the end is shifted by `base`.
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (position == rest.getRhs())
      if (Range shift = rangeOf(base))
        return a_.add(shift.high, end.high);
  return {};
}

GridRegions::Number GridRegions::endOf(Value offset, Value length) {
  // The tail of an axis is more exact than the sum of two maxima.
  if (Number end = endOfTail(offset, length))
    return end;
  if (auto least = length.getDefiningOp<arith::MinSIOp>())
    for (Value side : least->getOperands())
      if (Number end = endOfTail(offset, side))
        return end;
  Range first = rangeOf(offset), count = rangeOf(length);
  return first && count ? a_.add(first.high, count.high) : Number();
}

AxisBounds GridRegions::axisOf(Value offset, Value length, Value step) {
  bool isUnit = !step || getConstantIntValue(step) == 1;
  // Bounds that do not change in the grid are exact, so the step can stay.
  if (isOutside(offset) && isOutside(length) && (!step || isOutside(step)))
    return {a_.outside(offset), a_.outside(length), step ? a_.outside(step) : a_.constant(1)};
  Range first = rangeOf(offset);
  Number end;
  if (isUnit) {
    end = endOf(offset, length);
  } else if (Range count = rangeOf(length), stride = rangeOf(step); first && count && stride) {
    // With a step the last element lies (count - 1) steps behind the first.
    Number span = a_.mul(a_.sub(count.high, a_.constant(1)), stride.high);
    end = a_.add(a_.add(first.high, span), a_.constant(1));
  }
  if (!first || !end)
    return {};
  // The interval covers all points of the grid, with all elements between them.
  return {first.low, a_.sub(end, first.low), a_.constant(1)};
}

// --- boxes --------------------------------------------------------------------------------------

RegionBounds GridRegions::boxOf(Operation *op) {
  RegionBounds box;
  ValueRange offsets, lengths, steps;
  std::optional<int64_t> scattered;
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    offsets = load.getOffsets();
    lengths = load.getLengths();
    steps = load.getSteps();
  } else if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    offsets = slice.getOffsets();
    lengths = slice.getLengths();
    steps = slice.getSteps();
  } else {
    auto store = cast<ir::StoreOp>(op);
    offsets = store.getOffsets();
    lengths = store.getLengths();
    steps = store.getSteps();
    box.isWritten = true;
    if (store.getIndexAxis())
      scattered = static_cast<int64_t>(*store.getIndexAxis());
  }
  // Positions from data may be anywhere along that axis.
  for (size_t axis = 0; axis < offsets.size(); ++axis)
    box.axes.push_back(
        scattered == static_cast<int64_t>(axis)
            ? AxisBounds()
            : axisOf(offsets[axis], lengths[axis], steps.empty() ? Value() : steps[axis]));
  return box;
}

std::optional<SmallVector<RegionBounds, 4>> GridRegions::of(Value array) {
  // Boxes are only complete if nothing else may reach the array.
  if (isOpaque_ || whole_.contains(array))
    return std::nullopt;
  SmallVector<RegionBounds, 4> boxes;
  for (Operation *op : accesses_)
    if (arrayOf(op) == array)
      boxes.push_back(boxOf(op));
  if (boxes.empty())
    return std::nullopt;
  return boxes;
}

std::optional<SmallVector<RegionBounds, 4>> GridRegions::ofStore(PositionArithmetic &arithmetic,
                                                                 ir::StoreOp store, Value array) {
  GridRegions regions(arithmetic);
  regions.accesses_.push_back(store);
  for (Value operand : store->getOperands())
    if (isa<ir::ArrayType>(operand.getType()))
      regions.visitOutside(operand);
  return regions.of(array);
}

RegionBounds GridRegions::ofLoad(PositionArithmetic &arithmetic, ir::LoadOp load) {
  return GridRegions(arithmetic).boxOf(load);
}

} // namespace ptl::ir
