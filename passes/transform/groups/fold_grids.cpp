#include "passes/transform/groups/fold_grids.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// A grid that stores an array tile by tile, and the fold that reads the array.
struct StoredFold {
  AllocOp storage;
  StoreOp store;
  ParallelOp grid;
  LoadOp load;
  Operation *fold;
  /// For each axis of the array the axis of the grid that goes along it, or -1: each tile has it whole.
  llvm::SmallVector<int64_t> gridAxes;
};
} // namespace

/// Whether parts may be folded first, without being rounded between, and then what they come to.
static bool foldsInParts(Operation *op) {
  if (isa<ReduceMaxOp, ReduceMinOp, ReduceAnyOp, ReduceAllOp>(op))
    return true;
  Type elem = elementTypeOf(op->getOperand(0).getType());
  // What a mean divides by is counted in f32.
  if (isa<ReduceMeanOp>(op))
    return elem.isF32();
  // Sums of shorter types would be rounded to them between the folds.
  return isa<ReduceSumOp, ReduceProdOp>(op) &&
         (elem.isIndex() || elem.getIntOrFloatBitWidth() >= 32);
}

/// Whether one value comes of all elements: a scalar, or an array of one element.
static bool foldsAll(Operation *op) {
  auto type = dyn_cast<ArrayType>(op->getResult(0).getType());
  return !type || llvm::all_of(type.getExtents(), [](const Extent &extent) {
    return extent.isConstant() && extent.length == 1;
  });
}

static bool isZero(Value value) { return getConstantIntValue(value) == 0; }

/// The position in the grid that an offset is: sums with the beginning of the array have not been simplified yet.
static BlockArgument positionOf(Value offset) {
  if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
    if (isZero(sum.getLhs()))
      return positionOf(sum.getRhs());
    if (isZero(sum.getRhs()))
      return positionOf(sum.getLhs());
  }
  return dyn_cast<BlockArgument>(offset);
}

/// Which axis of the grid each axis of the stored array has. Nothing where tiles are anything but boxes that lie side by side.
static std::optional<llvm::SmallVector<int64_t>> gridAxesOf(StoreOp store, ParallelOp grid) {
  if (store.getIndex() || store.getAtomic() || !store.getSteps().empty() ||
      !store.getDropped().empty() || !isa<ArrayType>(store.getValue().getType()))
    return std::nullopt;
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<bool> isUsed(grid.getSteps().size(), false);
  for (Value offset : store.getOffsets()) {
    BlockArgument position = positionOf(offset);
    if (!position && isZero(offset)) {
      axes.push_back(-1);
      continue;
    }
    if (!position || position.getOwner() != &grid.getBody().front() ||
        isUsed[position.getArgNumber()])
      return std::nullopt;
    isUsed[position.getArgNumber()] = true;
    axes.push_back(position.getArgNumber());
  }
  // Along an axis that the store does not use, points would write the same elements.
  if (!llvm::all_of(isUsed, [](bool used) { return used; }) ||
      !llvm::all_of(grid.getLower(), isZero))
    return std::nullopt;
  return axes;
}

static bool readsWhole(LoadOp load) {
  return !load.getOutside() && load.getSteps().empty() && load.getDropped().empty() &&
         llvm::all_of(load.getOffsets(), isZero);
}

static std::optional<StoredFold> match(AllocOp storage) {
  StoredFold found{storage, {}, {}, {}, nullptr, {}};
  for (Operation *user : storage.getResult().getUsers()) {
    auto store = dyn_cast<StoreOp>(user);
    auto load = dyn_cast<LoadOp>(user);
    // One grid has to write the array and one fold to read it: nobody else may need it.
    if ((store && found.store) || (load && found.load) || (!store && !load))
      return std::nullopt;
    if (store)
      found.store = store;
    else
      found.load = load;
  }
  if (!found.store || !found.load)
    return std::nullopt;
  // What a schedule ends a kernel behind is stored.
  if (Operation *tile = found.store.getValue().getDefiningOp(); tile && attrs::split.isOn(tile))
    return std::nullopt;
  found.grid = dyn_cast<ParallelOp>(found.store->getParentOp());
  if (!found.grid || found.grid->getBlock() != storage->getBlock() ||
      found.load->getBlock() != storage->getBlock() || !found.grid->isBeforeInBlock(found.load) ||
      !readsWhole(found.load) || !found.load.getResult().hasOneUse())
    return std::nullopt;
  found.fold = *found.load.getResult().getUsers().begin();
  if (!foldsInParts(found.fold) || !foldsAll(found.fold) ||
      found.fold->getBlock() != storage->getBlock())
    return std::nullopt;
  auto axes = gridAxesOf(found.store, found.grid);
  if (!axes)
    return std::nullopt;
  found.gridAxes = std::move(*axes);
  return found;
}

/// The operation whose results of parts are folded again: of a mean the sum.
static llvm::StringRef partFold(Operation *fold) {
  return isa<ReduceMeanOp>(fold) ? ReduceSumOp::getOperationName() : fold->getName().getStringRef();
}

static Value folded(OpBuilder &b, Location loc, llvm::StringRef name, Value array, Type type,
                    DictionaryAttr attributes = {}) {
  OperationState state(loc, name);
  state.addOperands(array);
  if (attributes)
    state.addAttributes(attributes.getValue());
  state.addTypes(type);
  return b.create(state)->getResult(0);
}

/// The names of the numbers of tiles, by the end and the step of the axis that is cut.
using CountNames = llvm::DenseMap<std::pair<Value, const void *>, StringAttr>;

/// Storage for what the tiles come to, one element each.
static Value storageOfParts(OpBuilder &b, StoredFold &found, CountNames &names) {
  llvm::SmallVector<Value> counts;
  llvm::SmallVector<Extent> extents;
  for (int64_t gridAxis : found.gridAxes) {
    if (gridAxis < 0) {
      extents.push_back(Extent::constant(1));
      continue;
    }
    auto at = static_cast<size_t>(gridAxis);
    Value end = found.grid.getUpper()[at], step = found.grid.getSteps()[at];
    // The number has the name by which types speak of it. Equal numbers get one name, since the simplifier merges their computations, and
    // types would then speak of a name that no value has.
    Attribute number;
    bool isNumber = matchPattern(step, m_Constant(&number));
    StringAttr &name =
        names[{end, isNumber ? number.getAsOpaquePointer() : step.getAsOpaquePointer()}];
    if (!name)
      name = b.getStringAttr("_tiles_" + std::to_string(names.size()));
    Value count =
        b.createOrFold<arith::CeilDivUIOp>(NameLoc::get(name, found.fold->getLoc()), end, step);
    APInt known;
    if (matchPattern(count, m_ConstantInt(&known))) {
      extents.push_back(Extent::constant(known.getSExtValue()));
      continue;
    }
    extents.push_back(Extent::named(name));
    counts.push_back(count);
  }
  Type elem = elementTypeOf(found.store.getValue().getType());
  auto type = arrayTypeOf(elem, extents);
  return allocateStorage(b, found.fold->getLoc(), type, counts);
}

/// Stores what the tile comes to, in place of the tile.
static void storePart(OpBuilder &b, StoredFold &found, Value storage) {
  Location loc = found.fold->getLoc();
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0);
  Value one = b.create<arith::ConstantIndexOp>(loc, 1);
  llvm::SmallVector<Value> numbers, ones(found.gridAxes.size(), one);
  llvm::SmallVector<int64_t> all;
  for (auto [axis, gridAxis] : llvm::enumerate(found.gridAxes)) {
    all.push_back(static_cast<int64_t>(axis));
    if (gridAxis < 0) {
      numbers.push_back(zero);
      continue;
    }
    Value position = found.grid.getBody().getArgument(static_cast<unsigned>(gridAxis));
    // Positions are multiples of the step, so this is the number of the tile.
    numbers.push_back(b.createOrFold<arith::DivUIOp>(
        loc, position, found.grid.getSteps()[static_cast<size_t>(gridAxis)]));
  }
  Value tile = found.store.getValue();
  Value part = folded(b, loc, partFold(found.fold), tile, elementTypeOf(tile.getType()));
  b.create<StoreOp>(found.store.getLoc(), part, storage, numbers, ones, ValueRange(), Value(),
                    b.getDenseI64ArrayAttr(all), IntegerAttr(), StringAttr());
}

static Value foldOfParts(OpBuilder &b, StoredFold &found, Value storage) {
  Location loc = found.fold->getLoc();
  auto ref = cast<RefType>(storage.getType());
  auto type = arrayTypeOf(ref.getElementType(), ref.getExtents());
  Value result = folded(b, loc, partFold(found.fold), loadWhole(b, loc, storage, type),
                        found.fold->getResult(0).getType(), found.fold->getAttrDictionary());
  if (!isa<ReduceMeanOp>(found.fold))
    return result;
  // Parts of a mean are sums, so the quotient is taken once, of all elements.
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(found.gridAxes.size())));
  return makeOp<DivOp>(b, loc, result.getType(),
                       {result, countAlong(b, loc, found.load.getResult(), all)});
}

static void foldTiles(StoredFold &found, CountNames &names) {
  OpBuilder b(found.grid);
  Value storage = storageOfParts(b, found, names);
  b.setInsertionPoint(found.store);
  storePart(b, found, storage);
  b.setInsertionPoint(found.fold);
  found.fold->getResult(0).replaceAllUsesWith(foldOfParts(b, found, storage));
  found.fold->erase();
  found.load.erase();
  found.store.erase();
  found.storage.erase();
}

void foldGrids(func::FuncOp function) {
  llvm::SmallVector<StoredFold> folds;
  function.walk([&](AllocOp storage) {
    if (std::optional<StoredFold> found = match(storage))
      folds.push_back(*found);
  });
  CountNames names;
  for (StoredFold &found : folds)
    foldTiles(found, names);
}

} // namespace ptl::ir
