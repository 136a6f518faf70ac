#include "passes/lower_block/cut_choice.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/cut_tiles.h"
#include "passes/lower_block/limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

// ---- axes ---------------------------------------------------------------------------------------

/// The named axes of values, in order.
static llvm::SetVector<StringAttr> axesOf(llvm::ArrayRef<Value> values) {
  llvm::SetVector<StringAttr> names;
  for (Value value : values)
    for (const Extent &extent : extentsOf(value.getType()))
      if (extent.symbol)
        names.insert(extent.symbol);
  return names;
}

/// Bytes that every part loads again when a point is cut along the axis; what is loaded in a loop
/// counts for some iterations.
static int64_t loadedAgain(ParallelOp grid, StringAttr axis,
                           const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  constexpr int64_t iterations = 8;
  int64_t bytes = 0;
  grid.walk([&](Operation *op) {
    // A slice of a slice loads nothing of its own.
    if (!isa<LoadOp, SliceOp>(op) || op->getOperand(0).getDefiningOp<SliceOp>())
      return;
    int64_t own = 1;
    for (const Extent &extent : extentsOf(op->getResult(0).getType())) {
      // A box that has the axis is loaded in parts, so none of it is loaded again.
      if (extent.symbol == axis)
        return;
      own *= extent.isConstant() ? extent.length
                                 : std::max<int64_t>(1, capacities.lookup(extent.symbol));
    }
    for (Operation *parent = op->getParentOp(); parent != grid; parent = parent->getParentOp())
      // The number of rounds is not known here, and only the order of axes depends on it.
      own *= isa<scf::ForOp, ParallelOp>(parent) ? iterations : 1;
    bytes += own;
  });
  return bytes;
}

/// Whether an axis runs along the columns of a tile, whose parts are to be long runs of memory.
static bool isColumn(ParallelOp grid, StringAttr axis) {
  bool found = false;
  grid.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (llvm::ArrayRef<Extent> extents = extentsOf(value.getType()); extents.size() > 1)
        found |= extents.back().symbol == axis;
  });
  return found;
}

static int64_t bytesOf(Value value, const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  Type element = elementTypeOf(value.getType());
  int64_t bytes = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
  for (const Extent &extent : extentsOf(value.getType()))
    bytes *= extent.isConstant() ? extent.length
                                 : std::max<int64_t>(1, capacities.lookup(extent.symbol));
  return bytes;
}

/// The entry of the ledger for tiles that are cut along an axis.
static LedgerParts describe(ParallelOp grid, StringAttr axis, int64_t parts, int64_t unit,
                            bool insideLoops,
                            const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  LedgerParts told;
  told.axis = axis.str();
  told.capacity = capacities.lookup(axis);
  told.size = roundUp(countCovering(told.capacity, parts), unit);
  told.parts = countCovering(told.capacity, told.size);
  told.insideLoops = insideLoops;
  int64_t most = -1;
  grid.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto hasAxis = [&](const Extent &extent) { return extent.symbol == axis; };
      if (!isa<ArrayType>(value.getType()))
        continue;
      bool isCut = llvm::any_of(extentsOf(value.getType()), hasAxis);
      std::string name = nameOf(op->getLoc());
      // A tile with a name counts twice, because the message can point to it in the source.
      if (int64_t size = bytesOf(value, capacities) * (name.empty() ? 1 : 2);
          isCut && size > most) {
        most = size;
        told.tile = name;
        told.place = placeOf(op->getLoc());
      }
      bool isLoad =
          isa<LoadOp, SliceOp>(op) && !op->getOperand(0).getDefiningOp<SliceOp>() &&
          (isa<LoadOp>(op) || !grid->isAncestor(op->getOperand(0).getParentBlock()->getParentOp()));
      if (insideLoops || isCut || !isLoad)
        continue;
      if (name.empty())
        name = nameOf(op->getOperand(0).getLoc());
      told.loadedAgain.push_back(name.empty() ? "tile" : name);
      told.bytesAgain += bytesOf(value, capacities);
    }
  });
  return told;
}

LedgerParts describeParts(ParallelOp grid, StringAttr axis, int64_t parts, int64_t unit,
                          bool insideLoops) {
  return describe(grid, axis, parts, unit, insideLoops, capacitiesOf(grid));
}

ParallelOp cutTiles(ParallelOp grid, const LowerOptions &options,
                    std::optional<LedgerParts> &told) {
  if (options.parts <= 1 && options.pointParts <= 1)
    return grid;
  CoreAssignment cores = assignCores(grid);
  if (attrs::manual.isOn(grid) || (!cores.usesCube() && options.parts > 1))
    return {};
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  // A part is dealt to the two vector cores, and each wants whole rows of boxes.
  auto unit = [&](StringAttr name) -> int64_t {
    if (!cores.usesCube())
      return isColumn(grid, name) ? 64 : 1;
    return cores.deals(name) ? 32 : 16;
  };
  auto shrinks = [&](StringAttr name, int64_t parts) {
    int64_t step = unit(name), capacity = capacities.lookup(name);
    auto size = [&](int64_t n) { return roundUp(countCovering(capacity, n), step); };
    return size(parts) < size(parts / 2);
  };
  if (options.parts > 1) {
    llvm::SmallVector<Value> crossing(cores.toVector);
    crossing.append(cores.toCube.begin(), cores.toCube.end());
    for (StringAttr name : axesOf(crossing))
      // Cutting another axis than the one that is dealt would undo the dealing.
      if (shrinks(name, options.parts) && (cores.dealt.empty() || cores.deals(name))) {
        told = describe(grid, name, options.parts, unit(name), /*insideLoops=*/true, capacities);
        if (ParallelOp cut =
                cutInsideLoops(grid, {name, capacities.lookup(name)}, options.parts, unit(name)))
          return cut;
      }
    told.reset();
    return {};
  }
  llvm::SmallVector<Value> made(cores.accumulators.begin(), cores.accumulators.end());
  if (!cores.usesCube())
    grid.walk([&](StoreOp store) { made.push_back(store.getValue()); });
  llvm::sort(made, [](Value a, Value b) { // a set has no order
    auto names = [](Value v) {
      std::string text;
      for (const Extent &extent : extentsOf(v.getType()))
        text += extent.symbol ? extent.symbol.str() + "," : ",";
      return text;
    };
    return names(a) < names(b);
  });
  llvm::SmallVector<StringAttr> axes(axesOf(made).takeVector());
  llvm::stable_sort(axes, [&](StringAttr a, StringAttr b) {
    return loadedAgain(grid, a, capacities) < loadedAgain(grid, b, capacities);
  });
  for (StringAttr name : axes)
    if (shrinks(name, options.pointParts)) {
      told =
          describe(grid, name, options.pointParts, unit(name), /*insideLoops=*/false, capacities);
      if (ParallelOp cut = cutPoints(grid, {name, capacities.lookup(name)}, options.pointParts,
                                     unit(name), options.partBuffers))
        return cut;
    }
  told.reset();
  return {};
}

} // namespace ptl::block
