#include "passes/lower_block/point_order.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// Finds which axes of a grid a position depends on.
class Dependence {
public:
  explicit Dependence(ir::ParallelOp grid) : grid_(grid) {}

  /// A bit for each axis of the grid.
  uint64_t axesOf(Value value);

private:
  uint64_t axesOfArgument(BlockArgument argument);
  uint64_t axesOfAll(ValueRange values) {
    uint64_t axes = 0;
    for (Value value : values)
      axes |= axesOf(value);
    return axes;
  }

  ir::ParallelOp grid_;
  llvm::DenseMap<Value, uint64_t> known_;
};

} // namespace

/// The variables of loops in the grid depend on what their bounds do.
uint64_t Dependence::axesOfArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (owner == grid_)
    return uint64_t(1) << std::min(argument.getArgNumber(), 63u);
  if (!grid_->isProperAncestor(owner))
    return 0;
  // What a loop carries says nothing of how far it has come.
  auto loop = dyn_cast<scf::ForOp>(owner);
  return loop && argument == loop.getInductionVar()
             ? axesOfAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
             : axesOfAll(owner->getOperands());
}

uint64_t Dependence::axesOf(Value value) {
  if (auto found = known_.find(value); found != known_.end())
    return found->second;
  known_[value] = 0; // what a loop carries may lead back to itself
  uint64_t axes = 0;
  if (auto argument = dyn_cast<BlockArgument>(value))
    axes = axesOfArgument(argument);
  else if (Operation *made = value.getDefiningOp(); grid_->isProperAncestor(made))
    axes = axesOfAll(made->getOperands());
  return known_[value] = axes;
}

/// Whether the grid computes products, and some of what it reads depends on the last axis but not on the
/// one before it, and some the other way round. Where an axis of an array is cut by several axes of the
/// grid, the order is what these were written for.
static bool multipliesRowsByColumns(const KernelContext &c, ir::ParallelOp grid) {
  size_t rank = grid.getLower().size();
  if (rank < 2 || attrs::manual.isOn(grid))
    return false;
  uint64_t row = uint64_t(1) << (rank - 2), col = uint64_t(1) << (rank - 1);
  Dependence dependence(grid);
  bool hasProduct = false, readsRows = false, readsCols = false, isCutTwice = false;
  grid.walk([&](Operation *op) {
    hasProduct |= isa<ir::MatmulOp>(op);
    // Arrays of memory have a pointer here, whichever operation takes a box of them.
    if (!isa<ir::LoadOp, ir::SliceOp>(op) || !c.pointers.contains(operandsOf(op).array))
      return;
    uint64_t axes = 0;
    for (Value offset : operandsOf(op).offsets) {
      uint64_t own = dependence.axesOf(offset);
      isCutTwice |= (own & (row | col)) && !llvm::has_single_bit(own);
      axes |= own;
    }
    readsRows |= (axes & (row | col)) == row;
    readsCols |= (axes & (row | col)) == col;
  });
  return hasProduct && readsRows && readsCols && !isCutTwice;
}

PointOrder::PointOrder(KernelContext &context, ir::ParallelOp grid, llvm::ArrayRef<Value> counts)
    : c_(context), counts_(counts) {
  const MachineCore *cube = c_.machine.core("aic");
  int64_t groups = cube ? cube->count : 0;
  if (auto cores = attrs::cores.of(grid))
    groups = std::min(groups, cores.getInt());
  // Half of the groups have rows of one column: two columns pass at a time, and each group goes on with
  // its row.
  auto isOne = [](Value count) { return getConstantIntValue(count) == 1; };
  if (groups < 4 || !multipliesRowsByColumns(c_, grid) || isOne(counts.back()) ||
      isOne(counts[counts.size() - 2]))
    return;
  // Bands are of nearly equal height. A grid without points has one, too.
  Value rows = counts[counts.size() - 2], one = constant(c_, 1);
  Value bands = c_.b.createOrFold<arith::SubIOp>(c_.loc, rows, one);
  bands = c_.b.createOrFold<arith::DivSIOp>(c_.loc, bands, constant(c_, groups / 2));
  bands = c_.b.createOrFold<arith::AddIOp>(c_.loc, bands, one);
  band_ = c_.b.createOrFold<arith::CeilDivSIOp>(c_.loc, rows, bands);
}

llvm::SmallVector<Value> PointOrder::positionsOf(Value point) const {
  OpBuilder &b = c_.b;
  Location loc = c_.loc;
  auto over = [&](Value a, Value by) { return b.create<arith::DivUIOp>(loc, a, by).getResult(); };
  auto rest = [&](Value a, Value by) { return b.create<arith::RemUIOp>(loc, a, by).getResult(); };
  auto times = [&](Value a, Value by) { return b.createOrFold<arith::MulIOp>(loc, a, by); };
  llvm::SmallVector<Value> positions(counts_.size());
  size_t next = counts_.size();
  if (band_) {
    next -= 2;
    Value rows = counts_[next], cols = counts_[next + 1], inside = point;
    if (next > 0) {
      Value all = times(rows, cols);
      inside = rest(point, all);
      point = over(point, all);
    }
    Value ofBand = times(band_, cols);
    Value first = times(over(inside, ofBand), band_);
    inside = rest(inside, ofBand);
    // The last band may be lower.
    Value height = minimum(c_, band_, b.createOrFold<arith::SubIOp>(loc, rows, first));
    positions[next] = plus(c_, first, rest(inside, height));
    positions[next + 1] = over(inside, height);
  }
  while (next-- > 0) {
    positions[next] = next == 0 ? point : rest(point, counts_[next]);
    if (next > 0)
      point = over(point, counts_[next]);
  }
  return positions;
}

} // namespace ptl::block
