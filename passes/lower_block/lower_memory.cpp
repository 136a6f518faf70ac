// Loads and stores: boxes of arrays in global memory as views, and parts of tiles.
#include "passes/lower_block/lower_memory.h"
#include "passes/analysis/op_info.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_product.h"
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/lower_shape.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/row_windows.h"
#include "passes/lower_block/store_boxes.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::block {

BoxOperands operandsOf(Operation *op) {
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return {slice.getSource(), slice.getOffsets(), slice.getLengths(),
            slice.getSteps(),  slice.getDropped(), slice.getOutside()};
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return {load.getRef(),   load.getOffsets(), load.getLengths(),
            load.getSteps(), load.getDropped(), load.getOutside()};
  auto store = cast<ir::StoreOp>(op);
  return {store.getRef(),   store.getOffsets(), store.getLengths(),
          store.getSteps(), store.getDropped(), {}};
}

static void sliceTile(KernelContext &c, mlir::Operation *op, const Tile &source);
static void storeScalar(KernelContext &c, ir::StoreOp store, const BoxOperands &in);

llvm::SmallVector<Value> stridesOf(KernelContext &c, Value array) {
  OpBuilder::InsertionGuard guard(c.b);
  // The lengths of arrays are the same at all points, so strides are computed once before the grid.
  c.b.setInsertionPoint(c.gridLoop);
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(array.getType());
  llvm::SmallVector<Value> strides(extents.size());
  Value stride = constant(c, 1);
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    if (i == 0)
      break;
    Value length = globalLength(c, array, i);
    if (!length)
      return {};
    stride = matchPattern(stride, m_One()) ? length
                                           : c.b.createOrFold<arith::MulIOp>(c.loc, stride, length);
  }
  return strides;
}

Value globalLength(KernelContext &c, Value array, size_t axis) {
  const ir::Extent &extent = ir::extentsOf(array.getType())[axis];
  if (extent.isConstant())
    return constant(c, extent.length);
  return c.globalLengths.lookup(extent.symbol);
}

/// The number of elements before the matrix that the positions along the other axes skip; null for
/// none.
static Value elementsBefore(KernelContext &c, ValueRange offsets, llvm::ArrayRef<Value> strides,
                            llvm::ArrayRef<size_t> matrix) {
  Value base;
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    if (llvm::is_contained(matrix, axis))
      continue;
    Value offset = scalarOf(c, offsets[axis]);
    if (matchPattern(offset, m_Zero()))
      continue;
    Value elements = matchPattern(strides[axis], m_One())
                         ? offset
                         : c.b.createOrFold<arith::MulIOp>(c.loc, offset, strides[axis]);
    base = base ? c.b.createOrFold<arith::AddIOp>(c.loc, base, elements) : elements;
  }
  return base;
}

bool isMatrixBox(const BoxOperands &in, Type boxType) {
  if (in.outside)
    return false;
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  llvm::SmallVector<size_t> kept;
  for (size_t axis = 0; axis < in.offsets.size(); ++axis)
    if (!llvm::is_contained(in.dropped, static_cast<int64_t>(axis)))
      kept.push_back(axis);
  // A value of lower rank is repeated along the leading axes, which gives more than one matrix.
  if (kept.size() != extents.size())
    return false;
  size_t first = 0;
  // Leading axes of extent 1 are positions.
  while (kept.size() - first > 2 && extents[first].isOne())
    ++first;
  size_t last = in.offsets.size() - 1;
  if (kept.size() - first > 2 || (!kept.empty() && kept.back() != last))
    return false;
  // Rows may lie apart, since a view has a stride for them; elements of a row may not.
  for (auto [axis, step] : llvm::enumerate(in.steps)) {
    bool isRow = kept.size() - first == 2 && axis == kept[first];
    if (!isRow && !matchPattern(step, m_One()))
      return false;
  }
  return true;
}

bool fillsBox(ir::StoreOp store) {
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(store.getValue().getType());
  size_t next = 0;
  for (auto [axis, length] : llvm::enumerate(store.getLengths())) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis)))
      continue;
    // Repeated elements are not in the tile.
    if (extents[next++].isOne() && !matchPattern(length, m_One()))
      return false;
  }
  return true;
}

/// The axes of a box that form its matrix: the kept ones, without leading axes of extent 1, which
/// are positions as well.
static llvm::SmallVector<size_t> matrixAxes(const BoxOperands &in,
                                            llvm::ArrayRef<ir::Extent> extents) {
  llvm::SmallVector<size_t> kept;
  for (size_t axis = 0; axis < in.offsets.size(); ++axis)
    if (!llvm::is_contained(in.dropped, static_cast<int64_t>(axis)))
      kept.push_back(axis);
  size_t first = 0;
  while (kept.size() - first > 2 && extents[first].isOne())
    ++first;
  return {kept.begin() + static_cast<long>(first), kept.end()};
}

/// Whether this core can access a box as one matrix of contiguous rows.
static bool isMatrix(KernelContext &c, const BoxOperands &in, Type boxType) {
  if (!isMatrixBox(in, boxType))
    return false;
  // The vector cores have faster ways for rows that lie apart (`lower_boxes`).
  if (!in.steps.empty() && c.core == CoreKind::Vector)
    return false;
  // A column can be accessed alone only where rows have one element and are contiguous.
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  size_t last = in.offsets.size() - 1;
  auto isSingle = [&](const ir::Extent &each) { return each.isOne() || capacityOf(c, each) == 1; };
  bool column =
      extents.size() > 1 && isSingle(extents.back()) && !isSingle(extents[extents.size() - 2]);
  // The cube core reads columns within boxes, like any other matrix.
  if (!column || c.core != CoreKind::Vector)
    return true;
  Value cols = globalLength(c, in.array, last);
  llvm::SmallVector<Value> strides = stridesOf(c, in.array);
  size_t row = matrixAxes(in, extents).front(); // its elements may have others between them
  return cols && matchPattern(cols, m_One()) && row < strides.size() &&
         matchPattern(strides[row], m_One());
}

namespace {
/// A box's part of one axis of its array.
struct BoxAxis {
  int64_t capacity;
  Value valid, offset;
};
} // namespace

/// The part of an axis with extent `extent` that this core accesses; `present` is set as by
/// `dealt`.
static BoxAxis takeAxis(KernelContext &c, Operation *op, size_t axis, const ir::Extent &extent,
                        Value &present) {
  BoxOperands in = operandsOf(op);
  Value length = scalarOf(c, in.lengths[axis]);
  BoxAxis result{capacityOf(c, extent), {}, scalarOf(c, in.offsets[axis])};
  // Each of the two vector cores has its own rows.
  result.valid = dealt(c, length, extent, &present);
  bool deals = c.core == CoreKind::Vector && c.cores.deals(extent.symbol);
  if (deals) {
    Value first = c.b.createOrFold<arith::MulIOp>(c.loc, c.subblock, constant(c, result.capacity));
    if (!in.steps.empty())
      first = c.b.createOrFold<arith::MulIOp>(c.loc, first, scalarOf(c, in.steps[axis]));
    result.offset = c.b.createOrFold<arith::AddIOp>(c.loc, result.offset, first);
  }
  // Loading from another position is harmless, but storing there is not. Neither is loading what another core may store in the meantime.
  bool isRead = !isa<ir::StoreOp>(op) && !(deals && c.cores.written.contains(in.array));
  if ((c.core == CoreKind::Cube || deals) && present && isRead) {
    // A part that does not exist is loaded all the same, from the end of the array, unless a core
    // may store there: nothing computed from it is stored.
    Value last =
        c.b.createOrFold<arith::SubIOp>(c.loc, globalLength(c, in.array, axis), constant(c, 1));
    result.offset = minimum(c, result.offset, last);
    present = {};
  }
  if (extent.symbol)
    // From here on the name means the length that this core has.
    c.lengths[extent.symbol] = result.valid;
  return result;
}

/// Makes a view that has only the rows of the box, of which there are `count`: every `step`th of the array's, from the first one on.
static void takeEveryRow(KernelContext &c, Value step, Value count, MemoryBox &box) {
  Value before = c.b.createOrFold<arith::MulIOp>(c.loc, box.row, box.rowStride);
  box.base = box.base ? c.b.createOrFold<arith::AddIOp>(c.loc, box.base, before) : before;
  box.row = constant(c, 0);
  box.matrixRows = count;
  box.rowStride = c.b.createOrFold<arith::MulIOp>(c.loc, box.rowStride, step);
}

/// Takes the rows and columns of a box from the axes of its matrix. False after an error.
static bool takeMatrix(KernelContext &c, Operation *op, llvm::ArrayRef<size_t> matrix,
                       llvm::ArrayRef<ir::Extent> boxTypes, llvm::ArrayRef<Value> strides,
                       MemoryBox &box, Extents2 &extents) {
  Value array = operandsOf(op).array;
  ValueRange steps = operandsOf(op).steps;
  auto take = [&](size_t i, int64_t &capacity, Value &valid, Value &offset) {
    BoxAxis axis =
        takeAxis(c, op, matrix[i], boxTypes[boxTypes.size() - matrix.size() + i], box.present);
    std::tie(capacity, valid, offset) = std::tuple(axis.capacity, axis.valid, axis.offset);
  };
  if (matrix.size() == 2) {
    take(0, extents.rows, extents.validRows, box.row);
    take(1, extents.cols, extents.validCols, box.col);
    box.matrixRows = globalLength(c, array, matrix[0]);
    box.matrixCols = globalLength(c, array, matrix[1]);
    box.rowStride = strides[matrix[0]];
    if (!steps.empty() && !matchPattern(steps[matrix[0]], m_One()))
      takeEveryRow(c, scalarOf(c, steps[matrix[0]]), extents.validRows, box);
    if (!matchPattern(strides[matrix[1]], m_One()))
      return fail(c, op, "a box whose columns do not lie side by side in memory"), false;
  } else if (matrix.size() == 1) {
    take(0, extents.cols, extents.validCols, box.col);
    box.matrixCols = globalLength(c, array, matrix[0]);
    // With one row the stride is never used, but a view needs one.
    box.rowStride = box.matrixCols;
    if (matrix[0] + 1 != strides.size() && !matchPattern(strides[matrix[0]], m_One()))
      return fail(c, op, "a box whose elements do not lie side by side in memory"), false;
  } else {
    box.matrixCols = constant(c, 1);
  }
  return true;
}

static std::optional<MemoryBox> boxOf(KernelContext &c, Operation *op, Extents2 &extents) {
  BoxOperands in = operandsOf(op);
  // `lower_boxes` handles the boxes that are no matrix because of steps along a row, a value
  // outside, or the number of their axes.
  MemoryBox box;
  box.pointer = c.pointers.lookup(in.array);
  llvm::SmallVector<Value> strides = stridesOf(c, in.array);
  if (!box.pointer || strides.size() != in.offsets.size() || in.outside) {
    fail(c, op, in.outside ? "a load with `outside`" : "this array");
    return std::nullopt;
  }
  auto boxTypes = ir::extentsOf(isa<ir::StoreOp>(op) ? storeBoxType(c, cast<ir::StoreOp>(op))
                                                     : op->getResult(0).getType());
  llvm::SmallVector<size_t> matrix = matrixAxes(in, boxTypes);
  if (matrix.size() > 2) {
    fail(c, op, "a box of more than two axes");
    return std::nullopt;
  }
  // Positions along the other axes move the pointer, so that the view has exactly two axes.
  box.base = elementsBefore(c, in.offsets, strides, matrix);
  box.matrixRows = constant(c, 1);
  box.row = box.col = constant(c, 0);
  box.rowStride = constant(c, 1);
  extents = {1, 1, constant(c, 1), constant(c, 1)};
  if (!takeMatrix(c, op, matrix, boxTypes, strides, box, extents))
    return std::nullopt;
  box.present = onceOnly(c, op, box.present, boxTypes);
  return box;
}

Value onceOnly(KernelContext &c, Operation *op, Value present, llvm::ArrayRef<ir::Extent> extents) {
  bool isDealt =
      llvm::any_of(extents, [&](const ir::Extent &extent) { return c.cores.deals(extent.symbol); });
  // A value that is not dealt is computed by both vector cores, and only one of them may store it.
  if (!c.isFirst || isDealt || isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op))
    return present;
  return present ? c.b.createOrFold<arith::AndIOp>(c.loc, present, c.isFirst) : c.isFirst;
}

Type storeBoxType(KernelContext &c, ir::StoreOp store) {
  if (!isScalar(c, store.getValue()))
    return store.getValue().getType();
  return ir::arrayTypeOf(store.getValue().getType(), {});
}

Value partition(KernelContext &c, const MemoryBox &box, const Extents2 &extents, Type element,
                Location loc, bool transposed, bool asRow,
                std::optional<pto::ViewLayout> viewLayout) {
  Value pointer = box.pointer;
  if (box.base)
    pointer = c.b.create<pto::AddPtrOp>(loc, pointer.getType(), pointer, box.base);
  Value shape[2] = {box.matrixRows, box.matrixCols}, strides[2] = {box.rowStride, constant(c, 1)};
  Value offsets[2] = {box.row, box.col}, sizes[2] = {extents.validRows, extents.validCols};
  auto swap = [](Value(&pair)[2]) { std::swap(pair[0], pair[1]); };
  // Column-major memory is a row-major matrix with its axes exchanged.
  if (transposed || asRow) {
    swap(shape);
    swap(offsets);
    if (transposed)
      swap(strides);
  }
  if (asRow) // a column whose elements are contiguous
    std::swap(sizes[0], sizes[1]);
  auto extentOf = [](Value value) -> int64_t {
    IntegerAttr number;
    return matchPattern(value, m_Constant(&number)) ? number.getInt() : pto::kDynamic;
  };
  llvm::SmallVector<int64_t> viewShape = {extentOf(shape[0]), extentOf(shape[1])};
  auto viewType = pto::TensorViewType::get(c.b.getContext(), viewShape, element);
  pto::ViewLayoutAttr layout;
  if (transposed || viewLayout)
    layout = pto::ViewLayoutAttr::get(c.b.getContext(), viewLayout.value_or(pto::ViewLayout::dn));
  Value view;
  {
    // A view of a whole array does not depend on the point and is made before the grid.
    OpBuilder::InsertionGuard guard(c.b);
    if (!box.base)
      c.b.setInsertionPoint(c.gridLoop);
    Location place = NameLoc::get(c.pointerNames.lookup(box.pointer), loc);
    view = c.b.create<pto::MakeTensorViewOp>(place, viewType, pointer, shape, strides, layout);
  }
  llvm::SmallVector<int64_t> boxShape = {extentOf(sizes[0]), extentOf(sizes[1])};
  return c.b.create<pto::PartitionViewOp>(
      loc, pto::PartitionViewType::get(c.b.getContext(), boxShape, element), view, offsets, sizes);
}

void whenPresent(KernelContext &c, const MemoryBox &box, Location loc,
                 llvm::function_ref<void()> body) {
  if (!box.present)
    return body();
  OpBuilder::InsertionGuard guard(c.b);
  auto branch = c.b.create<scf::IfOp>(loc, box.present, /*withElseRegion=*/false);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

Tile load(KernelContext &c, const Tile &memory, Location loc) {
  Tile tile = memory;
  tile.box = {};
  tile.transposed = false;
  bool column = memory.extents.cols == 1 && memory.extents.rows > 1;
  tile.form = column ? Tile::Form::Column : Tile::Form::Whole;
  tile.buffer =
      allocate(c, ir::Place::Vec, "nd", storage(c, tile).first, storedType(memory.element), loc,
               /*rotates=*/true);
  if (memory.box.present) {
    // A part that is not loaded must not contain what the buffer held before.
    Tile zeros = tile;
    zeros.element = storedType(tile.element);
    fillWith(c, zeros, constantOf(c, zeros.element, 0), loc);
  }
  whenPresent(c, memory.box, loc, [&] {
    Value view =
        partition(c, memory.box, memory.extents, storedType(memory.element), loc, false, column);
    emit(c, loc, InstructionId::TLoad, {view}, {tile.buffer});
  });
  return memory.element.isInteger(1) ? conditionsOf(c, tile, loc) : tile;
}

Tile conditionsOf(KernelContext &c, const Tile &bytes, Location loc) {
  Tile numbers = bytes;
  // Comparisons do not take bytes, so the bytes are converted first.
  numbers.element = c.b.getF16Type();
  numbers.buffer = allocateLike(c, numbers, loc);
  auto round =
      c.b.getNamedAttr("rmode", pto::RoundModeAttr::get(c.b.getContext(), pto::RoundMode::RINT));
  emit(c, loc, InstructionId::TCvt, {bytes.buffer}, {numbers.buffer}, {round});
  return maskOf(c, numbers, loc);
}

Tile bytesOf(KernelContext &c, const Tile &mask, Location loc) {
  Tile numbers = numbersOf(c, mask, loc), bytes = numbers;
  bytes.element = c.b.getI8Type();
  bytes.buffer = allocateLike(c, bytes, loc);
  auto round =
      c.b.getNamedAttr("rmode", pto::RoundModeAttr::get(c.b.getContext(), pto::RoundMode::RINT));
  emit(c, loc, InstructionId::TCvt, {numbers.buffer}, {bytes.buffer}, {round});
  return bytes;
}

void lowerSlice(KernelContext &c, Operation *op) {
  BoxOperands in = operandsOf(op);
  Value result = op->getResult(0);
  Location loc = op->getLoc();
  if (!c.pointers.count(in.array)) {
    if (c.core == CoreKind::Cube) // The vector cores slice tiles, and send what products read.
      return bindLengths(c, op);
    const Tile *source = tileOf(c, in.array);
    if (source && ringOf(c, in.array))
      return loadSlice(c, op, *source);
    return source ? sliceTile(c, op, *source)
                  : fail(c, op, "a part of a value that another core holds");
  }
  if (isTakenFrom(result, c.cores)) // The operation that takes from it reads global memory.
    return bindLengths(c, op);
  // The cube core leaves out scalars that it does not use.
  if (isScalar(c, result) && !isNeeded(c, result))
    return;
  if (isScalar(c, result) || !isMatrix(c, in, result.getType())) {
    bool isUsed = c.core == CoreKind::Vector
                      ? isUsedOnVector(result, c.cores)
                      : isUsedOnCube(result, c.cores) && !c.cores.crossesToCube(result);
    if (isScalar(c, result) || isUsed)
      return loadBox(c, op, in);
    return bindLengths(c, op);
  }
  // The lengths may be used on a core that does not load the value.
  if (c.core == CoreKind::Cube && !isUsedOnCube(result, c.cores))
    return bindLengths(c, op);
  Extents2 extents;
  std::optional<MemoryBox> box = boxOf(c, op, extents);
  if (!box)
    return;
  Tile memory;
  memory.form = Tile::Form::Memory;
  memory.extents = extents;
  memory.element = ir::elementTypeOf(result.getType());
  memory.box = *box;
  if (c.core == CoreKind::Cube)
    return stage(c, op, memory);
  if (!isUsedOnVector(result, c.cores))
    return;
  if (extents.rows == ir::Extent::kUnknown || extents.cols == ir::Extent::kUnknown) {
    tileExtentsOf(c, op, result.getType()); // It reports which extent.
    return;
  }
  setTile(c, result, load(c, memory, loc));
}

void lowerStore(KernelContext &c, ir::StoreOp store) {
  Location loc = store.getLoc();
  Value value = store.getValue();
  llvm::SmallVector<NamedAttribute> attributes;
  if (std::optional<llvm::StringRef> atomic = store.getAtomic()) {
    // The store unit can only add.
    if (*atomic != "add")
      return fail(c, store, "`atomic " + atomic->str() + "=`");
    attributes.push_back(c.b.getNamedAttr(
        "atomicType", pto::AtomicTypeAttr::get(c.b.getContext(), pto::AtomicType::atomic_add)));
  }
  BoxOperands in = operandsOf(store);
  // The scalar unit stores a single element directly.
  bool single = isScalar(c, value) && llvm::all_of(in.lengths, [](Value length) {
                  return matchPattern(length, m_One());
                });
  bool matrix = !isScalar(c, value) && !store.getIndex() &&
                isMatrix(c, in, storeBoxType(c, store)) && fillsBox(store);
  const Tile *tile = tileOf(c, value);
  if (tile && tile->form == Tile::Form::Acc && !matrix)
    return fail(c, store, "a store of an accumulator to a box that is no matrix");
  if (tile && tile->relu)
    attributes.push_back(c.b.getNamedAttr(
        "reluPreMode", pto::ReluPreModeAttr::get(c.b.getContext(), pto::ReluPreMode::normal_relu)));
  if (single && attributes.empty() && !store.getIndex())
    return storeScalar(c, store, in);
  if (!matrix)
    return storeBox(c, store, in, attributes);
  Extents2 extents;
  std::optional<MemoryBox> box = boxOf(c, store, extents);
  if (!box)
    return;
  if (!tile)
    return fail(c, store, "this value");
  Tile source = tile->form == Tile::Form::Acc ? *tile : materialise(c, *tile, loc);
  if (source.form == Tile::Form::Mask)
    source = bytesOf(c, source, loc);
  bool column = source.form == Tile::Form::Column;
  // The box determines how much is stored; the tile may be larger.
  source.extents.validRows = extents.validRows;
  source.extents.validCols = extents.validCols;
  whenPresent(c, *box, loc, [&] {
    Type element = storedType(ir::elementTypeOf(store.getRef().getType()));
    Value view = partition(c, *box, source.extents, element, loc, false, column);
    emit(c, loc, InstructionId::TStore, {source.buffer}, {view}, attributes);
  });
}

/// Stores one element with the scalar unit.
static void storeScalar(KernelContext &c, ir::StoreOp store, const BoxOperands &in) {
  c.loc = store.getLoc();
  std::optional<GlobalBox> box = globalBox(c, store, in, storeBoxType(c, store));
  Value scalar = scalarOf(c, store.getValue());
  if (!box)
    return;
  if (!scalar)
    return fail(c, store, "a scalar that another core computes");
  if (scalar.getType().isInteger(1))
    // In global memory a condition is one byte.
    scalar = c.b.create<arith::ExtUIOp>(c.loc, c.b.getI8Type(), scalar);
  MemoryBox present;
  present.present = box->present;
  whenPresent(c, present, c.loc,
              [&] { c.b.create<pto::StoreScalarOp>(c.loc, box->pointer, box->base, scalar); });
}

// ---- parts of tiles -----------------------------------------------------------------------------

/// Whether the result has all elements of the box's array and only lacks axes of extent 1.
static bool isWholeWithoutOnes(const BoxOperands &in, Value result) {
  if (!in.steps.empty() || in.outside ||
      !llvm::all_of(in.offsets, [](Value v) { return matchPattern(v, m_Zero()); }))
    return false;
  llvm::ArrayRef<ir::Extent> axes = ir::extentsOf(in.array.getType()),
                             kept = ir::extentsOf(result.getType());
  size_t next = 0;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    bool dropped = llvm::is_contained(in.dropped, static_cast<int64_t>(axis));
    if (dropped ? !axes[axis].isOne() : !(axes[axis] == kept[next++]))
      return false;
  }
  return true;
}

static void sliceTile(KernelContext &c, Operation *op, const Tile &source) {
  BoxOperands in = operandsOf(op);
  Value result = op->getResult(0);
  // The scalar unit reads a single element.
  if (isScalar(c, result) && !in.outside) {
    ShapedTile from =
        shaped(c, source.form == Tile::Form::Splat ? source : materialise(c, source, op->getLoc()),
               in.array.getType());
    c.loc = op->getLoc();
    IndexVector at;
    for (Value offset : in.offsets)
      at.push_back(scalarOf(c, offset));
    c.scalars[result] = readElement(c, from, at);
    return;
  }
  bool whole = in.steps.empty() &&
               llvm::all_of(in.offsets, [](Value v) { return matchPattern(v, m_Zero()); }) &&
               in.dropped.empty() &&
               ir::extentsOf(result.getType()) == ir::extentsOf(in.array.getType());
  // The part is the whole tile, so nothing is copied.
  if (whole) {
    setTile(c, result, source);
    return;
  }
  if (isWholeWithoutOnes(in, result))
    return lowerView(c, op);
  // All parts of a splat are equal.
  if (source.form == Tile::Form::Splat && !in.outside) {
    bindLengths(c, op);
    std::optional<Extents2> extents = tileExtentsOf(c, op, result.getType());
    if (!extents)
      return;
    Tile splat = source;
    splat.extents = *extents;
    return setTile(c, result, splat);
  }
  bindLengths(c, op);
  if (std::optional<Tile> rows = rowWindow(c, op, source))
    return setTile(c, result, *rows);
  sliceByMoves(c, op, source);
}

} // namespace ptl::block
