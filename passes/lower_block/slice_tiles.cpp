#include "passes/lower_block/slice_tiles.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/cut_choice.h"
#include "passes/lower_block/cut_tiles.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/plan_queues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {
/// Prepares a grid: what crosses gets names that say where it is cut.
class Slicer {
public:
  Slicer(ParallelOp grid, const CoreAssignment &cores)
      : grid_(grid), cores_(cores), rows_(cores.dealt.front()), capacities_(capacitiesOf(grid)),
        b_(grid.getContext()) {}

  bool suits() const;
  /// The values that stay whole.
  WholeValues prepare();
  TileAxis axis() const { return {rows_, capacities_.lookup(rows_)}; }

private:
  bool isInRounds(Value value) const;
  bool suits(Value value) const;
  void sliceUses(Value value);
  void joinUses(Value value);
  void separate(OpOperand &operand);
  Value lengthOf(Value value, unsigned axis);
  bool isOfVector(OpOperand &use) const;

  ParallelOp grid_;
  const CoreAssignment &cores_;
  StringAttr rows_;
  llvm::DenseMap<StringAttr, int64_t> capacities_;
  OpBuilder b_;
  WholeValues whole_;
};
} // namespace

/// Whether a value crosses once in each round of what overlaps: of a loop that says so, or of the
/// points of the grid, which a core group does one behind the other. What the cube core reads is
/// handed over in loops alone: at a point several products may read it.
bool Slicer::isInRounds(Value value) const {
  Operation *around = value.getParentBlock()->getParentOp();
  if (around == grid_)
    return !cores_.crossesToCube(value);
  auto loop = dyn_cast<scf::ForOp>(around);
  auto pipeline = loop ? attrs::pipeline.of(loop) : nullptr;
  return pipeline && pipeline.getInt() >= 2;
}

/// Whether a value that crosses does so once in each round, as a matrix whose rows are dealt.
bool Slicer::suits(Value value) const {
  Operation *maker = value.getDefiningOp();
  llvm::ArrayRef<Extent> extents = ir::extentsOf(value.getType());
  if (!isInRounds(value) || !maker || extents.size() != 2 || partOf(value).isPart() ||
      extents[0].symbol != rows_ || extents[1].symbol == rows_)
    return false;
  Type element = elementTypeOf(value.getType());
  // Only these types go through rings.
  bool isMoved = element.isF16() || element.isBF16() || element.isF32() ||
                 (element.isInteger(32) && !cores_.crossesToCube(value));
  int64_t cols = capacityIn(extents[1], capacities_);
  if (!isMoved || cols == Extent::kUnknown || cols < 16)
    return false;
  // Products have to read the value itself, or there is no place for the join.
  return !cores_.crossesToCube(value) ||
         (maker->getNumRegions() == 0 && llvm::all_of(value.getUsers(), [&](Operation *user) {
            return !isViewOfOperand(user) || isHanded(user);
          }));
}

bool Slicer::suits() const {
  auto all = [&](const llvm::SmallVector<Value> &values) {
    return llvm::all_of(values, [&](Value value) { return suits(value); });
  };
  return !cores_.toVector.empty() && all(cores_.toVector) && all(cores_.toCube);
}

Value Slicer::lengthOf(Value value, unsigned axis) {
  const Extent &extent = ir::extentsOf(value.getType())[axis];
  if (extent.isConstant())
    return b_.create<arith::ConstantIndexOp>(value.getLoc(), extent.length);
  // Both stages of a loop know the lengths of both; that of a value alone is known in one.
  Value known = findLength(value, axis);
  if (known && known.getParentRegion()->isAncestor(value.getParentRegion()))
    return known;
  return b_.create<DimOp>(value.getLoc(), b_.getIndexType(), value, axis);
}

/// Whether a use of what the cube core makes is one by the vector cores.
bool Slicer::isOfVector(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (cores_.cube.contains(user) || isa<DimOp>(user))
    return false;
  auto yield = dyn_cast<scf::YieldOp>(user);
  auto loop = yield ? dyn_cast<scf::ForOp>(yield->getParentOp()) : nullptr;
  return !loop || !cores_.isAccumulator(loop.getResult(use.getOperandNumber()));
}

/// The vector cores read a slice, which is all of it until it is cut.
void Slicer::sliceUses(Value value) {
  Location loc = value.getLoc();
  b_.setInsertionPointAfterValue(value);
  Value zero = b_.create<arith::ConstantIndexOp>(loc, 0);
  Value lengths[] = {lengthOf(value, 0), lengthOf(value, 1)}, offsets[] = {zero, zero};
  Value slice = b_.create<SliceOp>(loc, value.getType(), value, offsets, lengths, ValueRange(),
                                   Value(), b_.getDenseI64ArrayAttr({}));
  // The cube core keeps the whole value.
  value.replaceUsesWithIf(slice, [&](OpOperand &use) {
    return use.getOwner() != slice.getDefiningOp() && isOfVector(use);
  });
}

/// Products read the slices one behind the other, which are one until it is cut.
void Slicer::joinUses(Value value) {
  b_.setInsertionPointAfterValue(value);
  Value joined = b_.create<ConcatOp>(value.getLoc(), value.getType(), ValueRange(value),
                                     static_cast<uint64_t>(0));
  value.replaceUsesWithIf(joined, [](OpOperand &use) { return isa<MatmulOp>(use.getOwner()); });
  whole_.insert(joined);
}

/// What the cube core loads or begins with, for itself alone: the vector cores have that in slices.
void Slicer::separate(OpOperand &operand) {
  Value value = operand.get();
  Operation *op = value.getDefiningOp();
  if (!op || !grid_->isProperAncestor(op) || whole_.contains(value) || op->getNumRegions())
    return;
  bool isShared = isa<SliceOp, LoadOp, ZerosOp, FullOp>(op) || isViewOfOperand(op);
  if (!isShared || !llvm::any_of(ir::extentsOf(value.getType()),
                                 [&](const Extent &extent) { return extent.symbol == rows_; }))
    return;
  bool isView = isViewOfOperand(op);
  if (!value.hasOneUse()) {
    b_.setInsertionPointAfter(op);
    // The vector cores keep the original, which is cut.
    op = b_.clone(*op);
    operand.set(op->getResult(0));
  }
  whole_.insert(op->getResult(0));
  if (isView)
    separate(op->getOpOperand(0));
}

WholeValues Slicer::prepare() {
  for (Value value : cores_.toVector)
    sliceUses(value);
  for (Value value : cores_.toCube)
    joinUses(value);
  whole_.insert(cores_.accumulators.begin(), cores_.accumulators.end());
  llvm::SmallVector<OpOperand *> own;
  grid_.walk([&](Operation *op) {
    if (cores_.cube.contains(op))
      for (OpOperand &operand : op->getOpOperands())
        own.push_back(&operand);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [init, argument] : llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
        if (cores_.isAccumulator(argument))
          own.push_back(&init);
  });
  // Operands are collected first, because operations are added.
  for (OpOperand *operand : own)
    separate(*operand);
  return std::move(whole_);
}

ParallelOp sliceTiles(ParallelOp grid, const LowerOptions &options, const Machine &machine,
                      std::optional<LedgerParts> &told) {
  told.reset();
  // Rings lie in global memory.
  if (attrs::manual.isOn(grid) || machine.exchange.throughBuffer)
    return {};
  CoreAssignment cores = assignCores(grid);
  if (!cores.isMixed() || cores.dealt.size() != 1 || !cores.meetings.empty() ||
      sharesQueues(cores, machine))
    return {};
  Slicer slicer(grid, cores);
  TileAxis axis = slicer.axis();
  constexpr int64_t unit = 32; // whole rows of boxes for each of the two vector cores
  // Slices are equal, or rows that are not there would be put behind the slot.
  if (axis.capacity < unit * options.slices || axis.capacity % (unit * options.slices) != 0 ||
      !slicer.suits())
    return {};
  std::optional<LedgerParts> parts =
      describeParts(grid, axis.name, options.slices, unit, /*insideLoops=*/true);
  ParallelOp made = cutInsideLoops(grid, axis, options.slices, unit, slicer.prepare());
  // The description was made before the grid was changed.
  if (made)
    told = parts;
  return made;
}

} // namespace ptl::block
