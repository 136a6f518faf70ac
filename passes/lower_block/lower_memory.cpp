// Loads and stores: boxes of arrays in global memory as views, and parts of tiles.
#include "passes/lower_block/lowering.h"

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

/// Elements from one position of an axis to the next.
llvm::SmallVector<Value> KernelLowering::stridesOf(Value array) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(gridLoop_);
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(array.getType());
  llvm::SmallVector<Value> strides(extents.size());
  Value stride = constant(1);
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    if (i == 0)
      break;
    Value length = globalLength(array, i);
    if (!length)
      return {};
    stride = matchPattern(stride, m_One()) ? length
                                           : b_.createOrFold<arith::MulIOp>(loc_, stride, length);
  }
  return strides;
}

/// The length of an axis of an array in global memory: lengths of arguments keep their names.
Value KernelLowering::globalLength(Value array, size_t axis) {
  const ir::Extent &extent = ir::extentsOf(array.getType())[axis];
  if (extent.isConstant())
    return constant(extent.length);
  return globalLengths_.lookup(extent.symbol);
}

/// Elements before the matrix, from the positions along its other axes; null for none.
Value KernelLowering::elementsBefore(ValueRange offsets, llvm::ArrayRef<Value> strides,
                                     llvm::ArrayRef<size_t> matrix) {
  Value base;
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    if (llvm::is_contained(matrix, axis))
      continue;
    Value offset = scalarOf(offsets[axis]);
    if (matchPattern(offset, m_Zero()))
      continue;
    Value elements = matchPattern(strides[axis], m_One())
                         ? offset
                         : b_.createOrFold<arith::MulIOp>(loc_, offset, strides[axis]);
    base = base ? b_.createOrFold<arith::AddIOp>(loc_, base, elements) : elements;
  }
  return base;
}

bool isMatrixBox(const BoxOperands &in, Type boxType) {
  if (!in.steps.empty() || in.outside)
    return false;
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  llvm::SmallVector<size_t> kept;
  for (size_t axis = 0; axis < in.offsets.size(); ++axis)
    if (!llvm::is_contained(in.dropped, static_cast<int64_t>(axis)))
      kept.push_back(axis);
  if (kept.size() != extents.size())
    return false;
  size_t first = 0;
  while (kept.size() - first > 2 && extents[first].isOne())
    ++first;
  size_t last = in.offsets.size() - 1;
  return kept.size() - first <= 2 && (kept.empty() || kept.back() == last);
}

/// Whether a box is a matrix whose rows lie side by side, or a part of one, for this core.
bool KernelLowering::isMatrix(const BoxOperands &in, Type boxType) {
  if (!isMatrixBox(in, boxType))
    return false;
  // A column stands alone only where rows have one element.
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  size_t last = in.offsets.size() - 1;
  auto isSingle = [&](const ir::Extent &each) { return each.isOne() || capacityOf(each) == 1; };
  bool column =
      extents.size() > 1 && isSingle(extents.back()) && !isSingle(extents[extents.size() - 2]);
  IntegerAttr width;
  Value cols = globalLength(in.array, last);
  if (column && core_ == CoreKind::Vector &&
      !(cols && matchPattern(cols, m_Constant(&width)) && width.getInt() == 1))
    return false;
  return true;
}

std::optional<MemoryBox> KernelLowering::boxOf(Operation *op, Extents2 &extents) {
  BoxOperands in = operandsOf(op);
  MemoryBox box;
  box.pointer = pointers_.lookup(in.array);
  llvm::SmallVector<Value> strides = stridesOf(in.array);
  if (!box.pointer || strides.size() != in.offsets.size() || !in.steps.empty() || in.outside) {
    fail(op, in.outside          ? "a load with `outside`"
             : !in.steps.empty() ? "a strided range"
                                 : "this array");
    return std::nullopt;
  }
  llvm::ArrayRef<ir::Extent> axes = ir::extentsOf(in.array.getType());
  llvm::SmallVector<size_t> kept;
  auto boxTypes = ir::extentsOf(isa<ir::StoreOp>(op) ? storeBoxType(cast<ir::StoreOp>(op))
                                                     : op->getResult(0).getType());
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (!llvm::is_contained(in.dropped, static_cast<int64_t>(axis)))
      kept.push_back(axis);
  // Leading axes of extent 1 are positions, too.
  size_t firstKept = 0;
  while (kept.size() - firstKept > 2 && boxTypes[firstKept].isOne())
    ++firstKept;
  llvm::SmallVector<size_t> matrix(kept.begin() + static_cast<long>(firstKept), kept.end());
  if (matrix.size() > 2) {
    fail(op, "a box of more than two axes");
    return std::nullopt;
  }
  box.base = elementsBefore(in.offsets, strides, matrix);
  box.matrixRows = constant(1);
  box.row = box.col = constant(0);
  box.rowStride = constant(1);
  extents = {1, 1, constant(1), constant(1)};
  auto extentAt = [&](size_t i) { return boxTypes[boxTypes.size() - matrix.size() + i]; };
  auto take = [&](size_t i, int64_t &capacity, Value &valid, Value &offset) {
    const ir::Extent &extent = extentAt(i);
    Value length = scalarOf(in.lengths[matrix[i]]);
    capacity = capacityOf(extent);
    offset = scalarOf(in.offsets[matrix[i]]);
    valid = length;
    valid = dealt(length, extent, &box.present);
    bool deals = core_ == CoreKind::Vector && cores_.deals(extent.symbol);
    if (deals) {
      Value first = b_.createOrFold<arith::MulIOp>(loc_, subblock_, constant(capacity));
      offset = b_.createOrFold<arith::AddIOp>(loc_, offset, first);
    }
    if ((core_ == CoreKind::Cube || deals) && box.present && !isa<ir::StoreOp>(op)) {
      // A part that is not there is loaded all the same, from the end of the array: what is
      // computed with it is not stored.
      Value last =
          b_.createOrFold<arith::SubIOp>(loc_, globalLength(in.array, matrix[i]), constant(1));
      offset = minimum(offset, last);
      box.present = {};
    }
    if (extent.symbol)
      lengths_[extent.symbol] = valid;
  };
  if (matrix.size() == 2) {
    take(0, extents.rows, extents.validRows, box.row);
    take(1, extents.cols, extents.validCols, box.col);
    box.matrixRows = globalLength(in.array, matrix[0]);
    box.matrixCols = globalLength(in.array, matrix[1]);
    box.rowStride = strides[matrix[0]];
    if (!matchPattern(strides[matrix[1]], m_One())) {
      fail(op, "a box whose columns do not lie side by side in memory");
      return std::nullopt;
    }
  } else if (matrix.size() == 1) {
    take(0, extents.cols, extents.validCols, box.col);
    box.matrixCols = globalLength(in.array, matrix[0]);
    box.rowStride = box.matrixCols;
    if (matrix[0] + 1 != axes.size() && !matchPattern(strides[matrix[0]], m_One())) {
      fail(op, "a box whose elements do not lie side by side in memory");
      return std::nullopt;
    }
  } else {
    box.matrixCols = constant(1);
  }
  box.present = onceOnly(op, box.present, boxTypes);
  return box;
}

/// What has an effect and is not dealt out is done by one of the vector cores.
Value KernelLowering::onceOnly(Operation *op, Value present, llvm::ArrayRef<ir::Extent> extents) {
  bool isDealt =
      llvm::any_of(extents, [&](const ir::Extent &extent) { return cores_.deals(extent.symbol); });
  if (!isFirst_ || isDealt || isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op))
    return present;
  return present ? b_.createOrFold<arith::AndIOp>(loc_, present, isFirst_) : isFirst_;
}

/// The type whose extents are those of the box that is written.
Type KernelLowering::storeBoxType(ir::StoreOp store) {
  if (!isScalar(store.getValue()))
    return store.getValue().getType();
  return ir::ArrayType::get(b_.getContext(), store.getValue().getType(), {}, ir::Place::Inferred);
}

Value KernelLowering::partition(const MemoryBox &box, const Extents2 &extents, Type element,
                                Location loc, bool transposed, bool asRow) {
  Value pointer = box.pointer;
  if (box.base)
    pointer = b_.create<pto::AddPtrOp>(loc, pointer.getType(), pointer, box.base);
  Value shape[2] = {box.matrixRows, box.matrixCols}, strides[2] = {box.rowStride, constant(1)};
  Value offsets[2] = {box.row, box.col}, sizes[2] = {extents.validRows, extents.validCols};
  auto swap = [](Value(&pair)[2]) { std::swap(pair[0], pair[1]); };
  if (transposed || asRow) {
    swap(shape);
    swap(offsets);
    if (transposed)
      swap(strides);
  }
  if (asRow) // a column whose elements lie side by side
    std::swap(sizes[0], sizes[1]);
  auto extentOf = [](Value value) -> int64_t {
    IntegerAttr number;
    return matchPattern(value, m_Constant(&number)) ? number.getInt() : pto::kDynamic;
  };
  llvm::SmallVector<int64_t> viewShape = {extentOf(shape[0]), extentOf(shape[1])};
  auto viewType = pto::TensorViewType::get(b_.getContext(), viewShape, element);
  pto::ViewLayoutAttr layout;
  if (transposed)
    layout = pto::ViewLayoutAttr::get(b_.getContext(), pto::ViewLayout::dn);
  Value view;
  {
    // Views of whole arrays stand before the grid.
    OpBuilder::InsertionGuard guard(b_);
    if (!box.base)
      b_.setInsertionPoint(gridLoop_);
    Location place = NameLoc::get(pointerNames_.lookup(box.pointer), loc);
    view = b_.create<pto::MakeTensorViewOp>(place, viewType, pointer, shape, strides, layout);
  }
  llvm::SmallVector<int64_t> boxShape = {extentOf(sizes[0]), extentOf(sizes[1])};
  return b_.create<pto::PartitionViewOp>(
      loc, pto::PartitionViewType::get(b_.getContext(), boxShape, element), view, offsets, sizes);
}

void KernelLowering::whenPresent(const MemoryBox &box, Location loc,
                                 llvm::function_ref<void()> body) {
  if (!box.present)
    return body();
  OpBuilder::InsertionGuard guard(b_);
  auto branch = b_.create<scf::IfOp>(loc, box.present, /*withElseRegion=*/false);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

/// Into the vector memory.
Tile KernelLowering::load(const Tile &memory, Location loc) {
  Tile tile = memory;
  tile.box = {};
  tile.transposed = false;
  bool column = memory.extents.cols == 1 && memory.extents.rows > 1;
  tile.form = column ? Tile::Form::Column : Tile::Form::Whole;
  tile.buffer = allocate(ir::Place::Vec, "nd", storage(tile).first, storedType(memory.element), loc,
                         /*rotates=*/true);
  whenPresent(memory.box, loc, [&] {
    Value view =
        partition(memory.box, memory.extents, storedType(memory.element), loc, false, column);
    emit(loc, InstructionId::TLoad, {view}, {tile.buffer});
  });
  return memory.element.isInteger(1) ? conditionsOf(tile, loc) : tile;
}

/// Bytes of conditions, as they lie in global memory, to packed bits, and back.
Tile KernelLowering::conditionsOf(const Tile &bytes, Location loc) {
  Tile numbers = bytes;
  numbers.element = b_.getF16Type();
  numbers.buffer = allocateLike(numbers, loc);
  auto round =
      b_.getNamedAttr("rmode", pto::RoundModeAttr::get(b_.getContext(), pto::RoundMode::RINT));
  emit(loc, InstructionId::TCvt, {bytes.buffer}, {numbers.buffer}, {round});
  return maskOf(numbers, loc);
}

Tile KernelLowering::bytesOf(const Tile &mask, Location loc) {
  Tile numbers = numbersOf(mask, loc), bytes = numbers;
  bytes.element = b_.getI8Type();
  bytes.buffer = allocateLike(bytes, loc);
  auto round =
      b_.getNamedAttr("rmode", pto::RoundModeAttr::get(b_.getContext(), pto::RoundMode::RINT));
  emit(loc, InstructionId::TCvt, {numbers.buffer}, {bytes.buffer}, {round});
  return bytes;
}

void KernelLowering::lowerSlice(Operation *op) {
  BoxOperands in = operandsOf(op);
  Value result = op->getResult(0);
  Location loc = op->getLoc();
  if (!pointers_.count(in.array)) {
    if (core_ == CoreKind::Cube) // the vector cores cut tiles, and send what products read
      return bindLengths(op);
    const Tile *source = tileOf(in.array);
    return source ? sliceTile(op, *source) : fail(op, "a part of a value that another core holds");
  }
  if (isTakenFrom(result, cores_)) // what takes from it reads global memory
    return bindLengths(op);
  if (isScalar(result) || !isMatrix(in, result.getType())) {
    bool isUsed = core_ == CoreKind::Vector
                      ? isUsedOnVector(result, cores_)
                      : isUsedOnCube(result, cores_) && !cores_.crossesToCube(result);
    if (isScalar(result) || isUsed)
      return loadBox(op, in);
    return bindLengths(op);
  }
  Extents2 extents;
  std::optional<MemoryBox> box = boxOf(op, extents);
  if (!box)
    return;
  Tile memory;
  memory.form = Tile::Form::Memory;
  memory.extents = extents;
  memory.element = ir::elementTypeOf(result.getType());
  memory.box = *box;
  if (core_ == CoreKind::Cube)
    return stage(op, memory);
  if (!isUsedOnVector(result, cores_))
    return;
  if (extents.rows == ir::Extent::kUnknown || extents.cols == ir::Extent::kUnknown) {
    extentsOf(op, result.getType()); // reports which
    return;
  }
  setTile(result, load(memory, loc));
}

void KernelLowering::lowerStore(ir::StoreOp store) {
  Location loc = store.getLoc();
  Value value = store.getValue();
  llvm::SmallVector<NamedAttribute> attributes;
  if (std::optional<llvm::StringRef> atomic = store.getAtomic()) {
    if (*atomic != "add")
      return fail(store, "`atomic " + atomic->str() + "=`");
    attributes.push_back(b_.getNamedAttr(
        "atomicType", pto::AtomicTypeAttr::get(b_.getContext(), pto::AtomicType::atomic_add)));
  }
  BoxOperands in = operandsOf(store);
  bool single = isScalar(value) && llvm::all_of(in.lengths, [](Value length) {
                  return matchPattern(length, m_One());
                });
  bool matrix =
      !isScalar(value) && !store.getIndex() && isMatrix(in, storeBoxType(store)) && fillsBox(store);
  const Tile *tile = tileOf(value);
  if (tile && tile->form == Tile::Form::Acc && !matrix)
    return fail(store, "a store of an accumulator to a box that is no matrix");
  if (single && attributes.empty() && !store.getIndex())
    return storeScalar(store, in);
  if (!matrix)
    return storeBox(store, in, attributes);
  Extents2 extents;
  std::optional<MemoryBox> box = boxOf(store, extents);
  if (!box)
    return;
  if (!tile)
    return fail(store, "this value");
  Tile source = tile->form == Tile::Form::Acc ? *tile : materialise(*tile, loc);
  if (source.form == Tile::Form::Mask)
    source = bytesOf(source, loc);
  bool column = source.form == Tile::Form::Column;
  source.extents.validRows = extents.validRows;
  source.extents.validCols = extents.validCols;
  whenPresent(*box, loc, [&] {
    Type element = storedType(ir::elementTypeOf(store.getRef().getType()));
    Value view = partition(*box, source.extents, element, loc, false, column);
    emit(loc, InstructionId::TStore, {source.buffer}, {view}, attributes);
  });
}

/// Whether a value has the extents of the box that it is stored to: else it is repeated.
bool KernelLowering::fillsBox(ir::StoreOp store) {
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(store.getValue().getType());
  size_t next = 0;
  for (auto [axis, length] : llvm::enumerate(store.getLengths())) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis)))
      continue;
    if (extents[next++].isOne() && !matchPattern(length, m_One()))
      return false;
  }
  return true;
}

/// One element.
void KernelLowering::storeScalar(ir::StoreOp store, const BoxOperands &in) {
  loc_ = store.getLoc();
  std::optional<GlobalBox> box = globalBox(store, in, storeBoxType(store));
  Value scalar = scalarOf(store.getValue());
  if (!box)
    return;
  if (!scalar)
    return fail(store, "a scalar that another core computes");
  if (scalar.getType().isInteger(1))
    scalar = b_.create<arith::ExtUIOp>(loc_, b_.getI8Type(), scalar);
  MemoryBox present;
  present.present = box->present;
  whenPresent(present, loc_,
              [&] { b_.create<pto::StoreScalarOp>(loc_, box->pointer, box->base, scalar); });
}

// ---- parts of tiles
// ---------------------------------------------------------------------------------------

/// The same elements, without axes of extent 1.
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

void KernelLowering::sliceTile(Operation *op, const Tile &source) {
  BoxOperands in = operandsOf(op);
  Value result = op->getResult(0);
  if (isScalar(result) && !in.outside) {
    ShapedTile from =
        shaped(source.form == Tile::Form::Splat ? source : materialise(source, op->getLoc()),
               in.array.getType());
    loc_ = op->getLoc();
    IndexVector at;
    for (Value offset : in.offsets)
      at.push_back(scalarOf(offset));
    scalars_[result] = readElement(from, at);
    return;
  }
  bool whole = in.steps.empty() &&
               llvm::all_of(in.offsets, [](Value v) { return matchPattern(v, m_Zero()); }) &&
               in.dropped.empty() &&
               ir::extentsOf(result.getType()) == ir::extentsOf(in.array.getType());
  if (whole) {
    setTile(result, source);
    return;
  }
  if (isWholeWithoutOnes(in, result))
    return lowerView(op);
  if (source.form == Tile::Form::Splat && !in.outside) {
    bindLengths(op);
    std::optional<Extents2> extents = extentsOf(op, result.getType());
    if (!extents)
      return;
    Tile splat = source;
    splat.extents = *extents;
    return setTile(result, splat);
  }
  sliceByMoves(op, source);
}

} // namespace ptl::block
