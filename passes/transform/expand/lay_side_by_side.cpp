#include "passes/transform/expand/lay_side_by_side.h"

#include "passes/transform/make_grid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

// ---- what is recognised -------------------------------------------------------------------------

/// Whether a number can be computed again from the numbers of the rounds.
static bool isOfRounds(Value value, llvm::ArrayRef<scf::ForOp> loops) {
  scf::ForOp outermost = loops.front();
  if (outermost.isDefinedOutsideOfLoop(value))
    return true;
  if (llvm::any_of(loops, [&](scf::ForOp loop) { return value == loop.getInductionVar(); }))
    return true;
  Operation *op = value.getDefiningOp();
  // Each point of the grid computes it again, so it has to be arithmetic alone.
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return isOfRounds(v, loops); });
}

/// The axis of `from` that `axis` of `shaped` is, where what is before it or behind it has the same extents.
static std::optional<int64_t> axisBefore(ReshapeOp shaped, int64_t axis) {
  llvm::ArrayRef<Extent> to = extentsOf(shaped.getType()),
                         from = extentsOf(shaped->getOperand(0).getType());
  auto at = static_cast<size_t>(axis);
  size_t behind = to.size() - at;
  if (from.size() >= behind && to.take_back(behind) == from.take_back(behind))
    return static_cast<int64_t>(from.size() - behind);
  if (from.size() > at && to.take_front(at + 1) == from.take_front(at + 1))
    return axis;
  return std::nullopt;
}

std::optional<PartOfRound> partOfRound(Value value, int64_t axis,
                                       llvm::ArrayRef<scf::ForOp> loops) {
  if (auto shaped = value.getDefiningOp<ReshapeOp>()) {
    std::optional<int64_t> before = axisBefore(shaped, axis);
    if (!before)
      return std::nullopt;
    axis = *before;
    value = shaped->getOperand(0);
  }
  auto slice = value.getDefiningOp<SliceOp>();
  scf::ForOp outermost = loops.front();
  if (!slice || slice.getOutside() || !isa<ArrayType>(slice.getType()) ||
      !outermost.isDefinedOutsideOfLoop(slice.getSource()))
    return std::nullopt;
  auto isKnown = [&](Value number) { return isOfRounds(number, loops); };
  if (!llvm::all_of(slice.getOffsets(), isKnown) || !llvm::all_of(slice.getSteps(), isKnown))
    return std::nullopt;
  return PartOfRound{slice, axis};
}

// ---- the grid -----------------------------------------------------------------------------------

namespace {
/// Makes the grid; its points are the rounds, and tiles of the part.
class PartCopy {
public:
  PartCopy(OpBuilder &builder, PartOfRound part, llvm::ArrayRef<scf::ForOp> loops,
           const SideBySide &to)
      : b_(builder), loc_(part.slice->getLoc()), part_(part), loops_(loops), to_(to),
        extents_(extentsOf(part.slice.getType())) {}

  void run();

private:
  /// How much of an axis of the part a tile has.
  struct Along {
    int64_t step = 1;
    bool isWhole = false; ///< the axis has no place in the grid
    bool isRow = false;   ///< an axis of the tile
  };

  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value add(Value x, Value y) { return b_.createOrFold<arith::AddIOp>(loc_, x, y); }
  Value times(Value x, Value y) { return b_.createOrFold<arith::MulIOp>(loc_, x, y); }
  llvm::SmallVector<Along> chooseTile();
  Value again(Value number);
  Value roundNumber();
  void copyTile(llvm::ArrayRef<Along> along, llvm::ArrayRef<Value> at);

  OpBuilder &b_;
  Location loc_;
  PartOfRound part_;
  llvm::ArrayRef<scf::ForOp> loops_;
  const SideBySide &to_;
  llvm::ArrayRef<Extent> extents_;
  IRMapping map_;
};
} // namespace

/// Long runs of memory, and rows of them as far as there is room: nothing is computed, so a tile costs
/// little more than its way.
llvm::SmallVector<PartCopy::Along> PartCopy::chooseTile() {
  constexpr int64_t kRun = 512, kUnit = 16;
  int64_t bits = elementTypeOf(part_.slice.getType()).getIntOrFloatBitWidth();
  int64_t budget = std::max<int64_t>(kUnit, to_.tileBytes * 8 / std::max<int64_t>(bits, 8));
  llvm::SmallVector<Along> along(extents_.size());
  auto take = [&](size_t axis, int64_t most) {
    int64_t bound = extents_[axis].capacity;
    bool isWhole = bound != Extent::kUnknown && bound <= most;
    along[axis] = {isWhole ? bound : most, isWhole, true};
    return along[axis].step;
  };
  int64_t run = take(extents_.size() - 1, std::min(budget, kRun));
  int64_t rows = budget / ((run + kUnit - 1) / kUnit * kUnit);
  if (extents_.size() > 1)
    take(extents_.size() - 2, std::max<int64_t>(1, rows));
  return along;
}

/// The number as it is at a point of the grid.
Value PartCopy::again(Value number) {
  scf::ForOp outermost = loops_.front();
  if (map_.contains(number) || outermost.isDefinedOutsideOfLoop(number))
    return map_.lookupOrDefault(number);
  for (Value operand : number.getDefiningOp()->getOperands())
    again(operand);
  b_.clone(*number.getDefiningOp(), map_);
  return map_.lookup(number);
}

Value PartCopy::roundNumber() {
  Value round;
  for (scf::ForOp loop : loops_) {
    Value own = map_.lookup(loop.getInductionVar());
    // The inner loop changes fastest.
    round = round ? add(times(round, loop.getUpperBound()), own) : own;
  }
  return round;
}

void PartCopy::copyTile(llvm::ArrayRef<Along> along, llvm::ArrayRef<Value> at) {
  llvm::SmallVector<Value> lengths;
  llvm::SmallVector<Extent> tile;
  llvm::SmallVector<int64_t> single;
  for (auto [axis, own] : llvm::enumerate(along)) {
    // An axis that the grid goes along by single positions has a length of one.
    if (!own.isRow)
      lengths.push_back(constant(1));
    else if (own.isWhole)
      lengths.push_back(to_.lengths[axis]);
    else
      lengths.push_back(b_.createOrFold<arith::MinSIOp>(
          loc_, b_.createOrFold<arith::SubIOp>(loc_, to_.lengths[axis], at[axis]),
          constant(own.step)));
    if (!own.isRow)
      single.push_back(static_cast<int64_t>(axis));
    else if (own.isWhole && extents_[axis].isConstant())
      tile.push_back(extents_[axis]);
    else
      tile.push_back(
          Extent::named(b_.getStringAttr(to_.name + "." + std::to_string(axis)), own.step));
  }
  SliceOp slice = part_.slice;
  llvm::SmallVector<Value> offsets, counts, steps;
  llvm::SmallVector<int64_t> dropped;
  size_t kept = 0;
  for (int64_t axis = 0; axis < rankOf(slice.getSource().getType()); ++axis) {
    auto number = static_cast<size_t>(axis);
    Value offset = again(slice.getOffsets()[number]);
    Value step = slice.getSteps().empty() ? Value() : again(slice.getSteps()[number]);
    bool isOne = llvm::is_contained(slice.getDropped(), axis);
    if (step)
      steps.push_back(step);
    if (isOne || !along[kept].isRow)
      dropped.push_back(axis);
    // A position counts the elements of the slice, and an element of the slice lies `step` apart in
    // its source.
    offsets.push_back(isOne ? offset : add(offset, step ? times(at[kept], step) : at[kept]));
    counts.push_back(isOne ? constant(1) : lengths[kept]);
    kept += isOne ? 0 : 1;
  }
  auto type = arrayTypeOf(elementTypeOf(slice.getType()), tile);
  Value copied = b_.create<SliceOp>(loc_, type, slice.getSource(), offsets, counts, steps, Value(),
                                    b_.getDenseI64ArrayAttr(dropped));
  llvm::SmallVector<Value> places(at);
  auto axis = static_cast<size_t>(part_.axis);
  // The part of a round lies behind those of the rounds before it.
  places[axis] = add(times(roundNumber(), to_.each), places[axis]);
  b_.create<StoreOp>(loc_, copied, to_.ref, places, lengths, ValueRange(), Value(),
                     b_.getDenseI64ArrayAttr(single), IntegerAttr(), StringAttr());
}

void PartCopy::run() {
  // The rounds are axes of the grid, too: each point copies a tile of the part of one round.
  llvm::SmallVector<Along> along = chooseTile();
  llvm::SmallVector<Value> upper, steps;
  for (scf::ForOp loop : loops_) {
    upper.push_back(loop.getUpperBound());
    steps.push_back(constant(1));
  }
  for (auto [axis, own] : llvm::enumerate(along))
    if (!own.isWhole) {
      upper.push_back(to_.lengths[axis]);
      steps.push_back(constant(own.step));
    }
  Value first = constant(0);
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  auto arguments = grid.getBody().getArguments();
  size_t next = 0;
  for (scf::ForOp loop : loops_)
    map_.map(loop.getInductionVar(), arguments[next++]);
  llvm::SmallVector<Value> at;
  for (const Along &own : along)
    at.push_back(own.isWhole ? first : Value(arguments[next++]));
  copyTile(along, at);
  b_.create<YieldOp>(loc_);
}

void copyParts(OpBuilder &builder, PartOfRound part, llvm::ArrayRef<scf::ForOp> loops,
               const SideBySide &to) {
  PartCopy(builder, part, loops, to).run();
}

} // namespace ptl::ir
