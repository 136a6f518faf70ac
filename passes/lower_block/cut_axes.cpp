#include "passes/lower_block/cut_axes.h"

#include "passes/analysis/axis_map.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

bool hasAxis(Type type, StringAttr axis) {
  return llvm::any_of(extentsOf(type), [&](const Extent &e) { return e.symbol == axis; });
}

bool isCut(Value value, ParallelOp grid, StringAttr axis) {
  return hasAxis(value.getType(), axis) && grid->isAncestor(value.getParentRegion()->getParentOp());
}

// ---- boxes --------------------------------------------------------------------------------------

std::optional<BoxAxis> boxAxis(Operation *op, Type tile, StringAttr name) {
  auto find = [&](auto box, Value base, int64_t indexAxis) -> std::optional<BoxAxis> {
    llvm::SmallVector<int64_t> kept;
    for (int64_t axis = 0; axis < rankOf(base.getType()); ++axis)
      if (!llvm::is_contained(box.getDropped(), axis))
        kept.push_back(axis);
    llvm::ArrayRef<Extent> extents = extentsOf(tile);
    if (extents.size() > kept.size() || !box.getSteps().empty())
      return std::nullopt;
    for (auto [i, extent] : llvm::enumerate(extents)) {
      if (extent.symbol != name)
        continue;
      int64_t axis = kept[kept.size() - extents.size() + i]; // a stored value broadcasts
      return BoxAxis{box.getOffsets().getBeginOperandIndex() + static_cast<unsigned>(axis),
                     box.getLengths().getBeginOperandIndex() + static_cast<unsigned>(axis),
                     axis != indexAxis};
    }
    return std::nullopt;
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return find(load, load.getRef(), -1);
  if (auto slice = dyn_cast<SliceOp>(op))
    return find(slice, slice.getSource(), -1);
  if (auto store = dyn_cast<StoreOp>(op)) {
    bool scatters = store.getIndex() && store.getIndexAxis();
    return find(store, store.getRef(),
                scatters ? static_cast<int64_t>(*store.getIndexAxis()) : int64_t(-1));
  }
  return std::nullopt;
}

std::optional<unsigned> madeLength(Operation *op, StringAttr name) {
  if (!isa<ZerosOp, OnesOp, FullOp, IndexOp, BroadcastOp, RandomOp>(op))
    return std::nullopt;
  llvm::SmallVector<unsigned> lengths;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (isa<IndexType>(operand.getType()))
      lengths.push_back(static_cast<unsigned>(i));
  llvm::SmallVector<StringAttr> names;
  for (const Extent &extent : extentsOf(op->getResult(0).getType()))
    if (!extent.isConstant())
      names.push_back(extent.symbol);
  if (lengths.size() < names.size())
    return std::nullopt;
  auto found = llvm::find(names, name);
  if (found == names.end())
    return std::nullopt;
  // They are counted from the end, because `index` has its start before them.
  return lengths[lengths.size() - names.size() + static_cast<size_t>(found - names.begin())];
}

// ---- what may be cut ----------------------------------------------------------------------------

/// Whether the operation computes a part of its result from the same part of its operands.
static bool mapsAxis(Operation *op, StringAttr axis) {
  if (op->getNumResults() != 1)
    return false;
  AxisMap map;
  for (const Extent &extent : extentsOf(op->getResult(0).getType()))
    map.push_back(extent.symbol == axis ? 0 : kWhole);
  if (llvm::count(map, 0) != 1)
    return false;
  auto operands = operandAxes(op, map);
  if (!operands || operands->size() != op->getNumOperands())
    return false;
  for (auto [operand, own] : llvm::zip(op->getOperands(), *operands))
    for (auto [i, extent] : llvm::enumerate(extentsOf(operand.getType())))
      if ((extent.symbol == axis) != (own[i] != kWhole))
        return false;
  return true;
}

static bool keepsPositionsApart(Operation *op, ParallelOp grid, StringAttr axis) {
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp, DimOp>(op))
    return true;
  if (isa<LoadOp, SliceOp>(op)) {
    Value base = op->getOperand(0);
    std::optional<BoxAxis> box = boxAxis(op, op->getResult(0).getType(), axis);
    if (!isCut(base, grid, axis))
      return box.has_value();
    // A slice of a cut tile must take the whole axis: a position may be in any part.
    return box && matchPattern(op->getOperand(box->offset), m_Zero()) &&
           extentsOf(base.getType())[box->offset - 1].symbol == axis;
  }
  if (auto store = dyn_cast<StoreOp>(op))
    return !isCut(store.getRef(), grid, axis) &&
           (!hasAxis(store.getValue().getType(), axis) ||
            boxAxis(op, store.getValue().getType(), axis).has_value()) &&
           (!store.getIndex() ||
            hasAxis(store.getIndex().getType(), axis) == hasAxis(store.getValue().getType(), axis));
  if (isa<ZerosOp, OnesOp, FullOp, IndexOp, RandomOp>(op))
    // Random numbers depend on the position in the whole tile.
    return !isa<RandomOp>(op) && madeLength(op, axis).has_value();
  if (auto take = dyn_cast<TakeOp>(op))
    return !isCut(take.getSource(), grid, axis);
  return mapsAxis(op, axis);
}

bool joins(Operation *op, const WholeValues &whole) {
  return isa<ConcatOp>(op) && whole.contains(op->getResult(0));
}

/// Whether all that surrounds an operation of the grid can be copied with other tiles in it.
static bool isInLoopsThatAreCut(Operation *op, ParallelOp grid) {
  for (Operation *parent = op->getParentOp(); parent != grid; parent = parent->getParentOp())
    if (!isa<scf::ForOp, scf::IfOp, ParallelOp>(parent))
      return false;
  return true;
}

bool keepsApart(ParallelOp grid, StringAttr axis, const WholeValues &whole) {
  auto cut = [&](Value value) { return isCut(value, grid, axis) && !whole.contains(value); };
  bool all = true;
  grid.walk([&](Operation *op) {
    if (op != grid && !joins(op, whole) &&
        (llvm::any_of(op->getOperands(), cut) || llvm::any_of(op->getResults(), cut)))
      all &= keepsPositionsApart(op, grid, axis) && isInLoopsThatAreCut(op, grid);
  });
  return all;
}

bool keepsApart(ParallelOp grid, StringAttr axis) { return keepsApart(grid, axis, {}); }

} // namespace ptl::block
