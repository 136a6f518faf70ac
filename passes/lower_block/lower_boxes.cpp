// Boxes of global memory that are no matrix: more than two axes, steps, elements that do not lie
// side by side, positions beyond the edges, rows by position. They move row by row; where a row
// does not lie side by side, element by element.
#include "passes/analysis/source_place.h"
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static bool isUnit(Value value) { return !value || matchPattern(value, m_One()); }

// ---- where the elements lie
// -----------------------------------------------------------------------------------------

/// The kept axes of a box, for a load, slice or store; nothing after an error.
std::optional<GlobalBox> KernelLowering::globalBox(Operation *op, const BoxOperands &in,
                                                   Type boxType) {
  GlobalBox box;
  box.pointer = pointers_.lookup(in.array);
  llvm::SmallVector<Value> strides = stridesOf(in.array);
  if (!box.pointer || strides.size() != in.offsets.size()) {
    fail(op, "this array");
    return std::nullopt;
  }
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  auto store = dyn_cast<ir::StoreOp>(op);
  auto isIndexed = [&](size_t axis) { // there the elements of the index, dealt out, say where
    return store && store.getIndex() && static_cast<size_t>(*store.getIndexAxis()) == axis;
  };
  size_t numKept = in.offsets.size() - in.dropped.size(), next = 0;
  box.base = constant(0);
  for (size_t axis = 0; axis < in.offsets.size(); ++axis) {
    Value offset = scalarOf(in.offsets[axis]);
    bool kept = !llvm::is_contained(in.dropped, static_cast<int64_t>(axis));
    Value step = in.steps.empty() ? Value() : scalarOf(in.steps[axis]);
    GlobalAxis made{constant(1), times(strides[axis], isUnit(step) ? constant(1) : step), offset,
                    isUnit(step) ? constant(1) : step, globalLength(in.array, axis)};
    if (kept) {
      made.length = scalarOf(in.lengths[axis]);
      // The value's axes are the last ones of the box.
      size_t lead = numKept - std::min(numKept, extents.size());
      if (next >= lead) {
        const ir::Extent &extent = extents[next - lead];
        Value present;
        made.length = dealt(made.length, extent, &present);
        bool deals = core_ == CoreKind::Vector && cores_.deals(extent.symbol);
        if (deals && !isIndexed(axis)) {
          Value first = times(subblock_, constant(capacityOf(extent)));
          made.offset = plus(made.offset, times(first, made.step));
        }
        // As in `boxOf` a part that is not there is loaded from the end of the array.
        if (deals && present && !in.outside && !store && !cores_.written.contains(in.array))
          made.offset = minimum(made.offset, b_.createOrFold<arith::SubIOp>(
                                                 loc_, globalLength(in.array, axis), constant(1)));
        else if (present)
          box.present = present;
        if (extent.symbol)
          lengths_[extent.symbol] = made.length;
      }
      ++next;
    }
    box.base = plus(box.base, times(made.offset, strides[axis]));
    if (kept)
      box.axes.push_back(made);
    else
      box.fixed.push_back(made);
  }
  box.present = onceOnly(op, box.present, extents);
  return box;
}

/// Elements before the one at these positions of the box.
Value KernelLowering::elementAt(const GlobalBox &box, Indices at) {
  Value element = box.base;
  for (auto [axis, position] : llvm::zip(box.axes, at))
    element = plus(element, times(position, axis.stride));
  return element;
}

/// A matrix in global memory that begins `element` elements behind the pointer.
Value KernelLowering::matrixView(Value pointer, Value element, Value rows, Value cols,
                                 Value rowStride, Type type) {
  MemoryBox box;
  box.pointer = pointer;
  box.base = element;
  box.matrixRows = rows;
  box.matrixCols = cols;
  box.rowStride = rowStride;
  box.row = box.col = constant(0);
  Extents2 extents{1, 1, rows, cols};
  return partition(box, extents, storedType(type), loc_);
}

/// Whether all positions of these axes lie inside the array.
Value KernelLowering::allInside(llvm::ArrayRef<GlobalAxis> axes) {
  Value inside = b_.create<arith::ConstantIntOp>(loc_, 1, 1);
  auto both = [&](Value condition) {
    inside = b_.createOrFold<arith::AndIOp>(loc_, inside, condition);
  };
  for (const GlobalAxis &axis : axes) {
    using P = arith::CmpIPredicate;
    Value last = plus(axis.offset, times(axis.length, axis.step));
    both(b_.createOrFold<arith::CmpIOp>(loc_, P::sge, axis.offset, constant(0)));
    both(b_.createOrFold<arith::CmpIOp>(loc_, P::sle, last, axis.extent));
  }
  return inside;
}

Value KernelLowering::isInside(const GlobalBox &box, Indices at) {
  Value inside;
  auto both = [&](Value position, Value extent) {
    Value one = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::ult, position, extent);
    inside = inside ? b_.createOrFold<arith::AndIOp>(loc_, inside, one) : one;
  };
  for (auto [axis, position] : llvm::zip(box.axes, at))
    both(plus(axis.offset, times(position, axis.step)), axis.extent);
  for (const GlobalAxis &axis : box.fixed)
    both(axis.offset, axis.extent);
  return inside ? inside : b_.create<arith::ConstantIntOp>(loc_, 1, 1).getResult();
}

/// One element of global memory as a scalar of `type`.
Value KernelLowering::readGlobal(Value pointer, Value element, Type type) {
  Value read = b_.create<pto::LoadScalarOp>(loc_, storedType(type), pointer, element);
  if (!type.isInteger(1))
    return read;
  return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ne, read,
                                  constantOf(read.getType(), 0));
}

// ---- loads
// ----------------------------------------------------------------------------------------------------------

void KernelLowering::loadRows(const GlobalBox &box, const ShapedTile &to) {
  size_t rank = box.axes.size();
  const GlobalAxis &last = box.axes.back();
  auto type = cast<pto::TileBufType>(to.tile.buffer.getType());
  IndexVector outer;
  for (const GlobalAxis &axis : llvm::ArrayRef(box.axes).drop_back())
    outer.push_back(axis.length);
  // Whole matrices: one, or several whose rows are known to be there.
  IntegerAttr known;
  int64_t rows = rank == 2 ? type.getRows() : 0;
  if (rank > 1 && matchPattern(outer.back(), m_Constant(&known)))
    rows = known.getInt();
  bool matrices = rows > 0;
  Value numRows = matrices ? outer.back() : constant(1);
  Value rowStride = rank > 1 ? box.axes[rank - 2].stride : last.length;
  if (matrices)
    outer.back() = constant(1);
  forEach(outer, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    first.push_back(constant(0));
    Value view = matrixView(box.pointer, elementAt(box, first), numRows, last.length, rowStride,
                            to.tile.element);
    Value part = window(to.tile.buffer, rowAt(to, first), constant(0), matrices ? rows : 1,
                        type.getCols(), numRows, last.length);
    emit(loc_, InstructionId::TLoad, {view}, {part});
  });
}

void KernelLowering::loadElements(const GlobalBox &box, const ShapedTile &to, Value outside) {
  IndexVector lengths;
  for (const GlobalAxis &axis : box.axes)
    lengths.push_back(axis.length);
  forEach(lengths, [&](Indices at) {
    auto read = [&] { return readGlobal(box.pointer, elementAt(box, at), to.tile.element); };
    if (!outside)
      return writeElement(to, at, read());
    auto branch = b_.create<scf::IfOp>(loc_, to.tile.element, isInside(box, at),
                                       /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&branch.getThenRegion().front());
    b_.create<scf::YieldOp>(loc_, read());
    b_.setInsertionPointToStart(&branch.getElseRegion().front());
    b_.create<scf::YieldOp>(loc_, outside);
    b_.setInsertionPointAfter(branch);
    writeElement(to, at, branch.getResult(0));
  });
}

static void branch(OpBuilder &b, Location loc, Value condition, llvm::function_ref<void()> then,
                   llvm::function_ref<void()> otherwise = nullptr) {
  OpBuilder::InsertionGuard guard(b);
  auto branch = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/bool(otherwise));
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  otherwise();
}

/// Elements that lie side by side from `element` on, into a row of a tile.
void KernelLowering::loadRow(const ShapedTile &to, Indices at, Value pointer, Value element,
                             Value length) {
  int64_t cols = cast<pto::TileBufType>(to.tile.buffer.getType()).getCols();
  Value view = matrixView(pointer, element, constant(1), length, length, to.tile.element);
  emit(loc_, InstructionId::TLoad, {view},
       {window(to.tile.buffer, rowAt(to, at), constant(0), 1, cols, constant(1), length)});
}

/// Of a box that lies partly outside: everything is filled, then rows that are inside are loaded,
/// and elements of those that are partly.
void KernelLowering::loadInside(const GlobalBox &box, const ShapedTile &to, Value outside) {
  Value length = box.axes.back().length, acrossInside = allInside(box.axes.back());
  IndexVector rows;
  for (const GlobalAxis &axis : llvm::ArrayRef(box.axes).drop_back())
    rows.push_back(axis.length);
  auto from = [](const IndexVector &row, Value col) {
    IndexVector at(row);
    at.push_back(col);
    return at;
  };
  auto loadWhole = [&](const IndexVector &row) {
    IndexVector at = from(row, constant(0));
    loadRow(to, at, box.pointer, elementAt(box, at), length);
  };
  auto loadElement = [&](const IndexVector &row, Value col) {
    IndexVector at = from(row, col);
    branch(b_, loc_, isInside(box, at), [&] {
      writeElement(to, at, readGlobal(box.pointer, elementAt(box, at), to.tile.element));
    });
  };
  fillWith(to.tile, outside, loc_);
  forEach(rows, [&](Indices at) {
    IndexVector row(at.begin(), at.end());
    branch(b_, loc_, isInside(box, row), [&] {
      branch(
          b_, loc_, acrossInside, [&] { loadWhole(row); },
          [&] { forEach({length}, [&](Indices col) { loadElement(row, col[0]); }); });
    });
  });
}

/// A box that is no matrix into the vector memory.
void KernelLowering::loadBox(Operation *op, const BoxOperands &in) {
  Value result = op->getResult(0);
  loc_ = op->getLoc();
  std::optional<GlobalBox> box = globalBox(op, in, result.getType());
  if (!box)
    return;
  Value outside = in.outside ? scalarOf(in.outside) : Value();
  Type element = ir::elementTypeOf(result.getType());
  if (isScalar(result)) {
    if (!outside) {
      scalars_[result] = readGlobal(box->pointer, box->base, element);
      return;
    }
    auto branch = b_.create<scf::IfOp>(loc_, element, isInside(*box, {}), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&branch.getThenRegion().front());
    b_.create<scf::YieldOp>(loc_, readGlobal(box->pointer, box->base, element));
    b_.setInsertionPointToStart(&branch.getElseRegion().front());
    b_.create<scf::YieldOp>(loc_, outside);
    scalars_[result] = branch.getResult(0);
    return;
  }
  if (core_ == CoreKind::Cube)
    return fail(op, "a box that is no matrix, as operand of a product,");
  if (element.isInteger(1))
    return fail(op, "a box of conditions that is no matrix");
  std::optional<ShapedTile> to = newResult(op);
  if (!to)
    return;
  loc_ = withoutName(loc_); // it is the tile's
  bool rows = isUnit(box->axes.back().stride) && to->tile.form == Form::Whole;
  MemoryBox present;
  present.present = box->present;
  if (box->present)
    fillWith(to->tile, constantOf(to->tile.element, 0), loc_);
  whenPresent(present, loc_, [&] {
    if (!outside)
      return rows ? loadRows(*box, *to) : loadElements(*box, *to, {});
    if (!rows)
      return loadElements(*box, *to, outside);
    Value isWhole =
        b_.createOrFold<arith::AndIOp>(loc_, allInside(box->axes), allInside(box->fixed));
    branch(
        b_, loc_, isWhole, [&] { loadRows(*box, *to); }, [&] { loadInside(*box, *to, outside); });
  });
}

/// Rows or elements of an array in global memory, or of a box of one, by position.
void KernelLowering::takeGlobal(Operation *op, Operation *box) {
  auto take = cast<ir::TakeOp>(op);
  loc_ = op->getLoc();
  auto axis = static_cast<size_t>(take.getAxis());
  Value array = box ? box->getOperand(0) : take.getSource();
  std::optional<ShapedTile> index = sourceOf(op, take.getIndex());
  std::optional<ShapedTile> to = index ? newResult(op) : std::nullopt;
  if (!to)
    return;
  Type element = to->tile.element;
  Value pointer = pointers_.lookup(array), base = constant(0);
  llvm::SmallVector<Value> all = stridesOf(array), strides;
  if (all.empty() || element.isInteger(1))
    return fail(op, "`take` of this array");
  BoxOperands in = box ? operandsOf(box) : BoxOperands();
  for (auto [n, stride] : llvm::enumerate(all)) {
    if (box)
      base = plus(base, times(scalarOf(in.offsets[n]), stride));
    if (!box || !llvm::is_contained(in.dropped, static_cast<int64_t>(n)))
      strides.push_back(stride);
  }
  bool rows =
      axis + 1 < to->lengths.size() && to->tile.form == Form::Whole && isUnit(strides.back());
  IndexVector lengths = IndexVector(to->lengths);
  if (rows)
    lengths.back() = constant(1);
  forEach(lengths, [&](Indices at) {
    Value from = base;
    for (size_t n = 0; n < at.size(); ++n)
      from = plus(from,
                  times(n == axis ? asPosition(readElement(*index, {at[n]})) : at[n], strides[n]));
    if (!rows)
      return writeElement(*to, at, readGlobal(pointer, from, element));
    loadRow(*to, at, pointer, from, to->lengths.back());
  });
}

// ---- stores
// ---------------------------------------------------------------------------------------------------------

namespace {
/// Elements of one value that are stored to many.
constexpr int64_t kFilledAtOnce = 64;
} // namespace

/// A column of `count` values, each at the begin of a block of its own, as stores of single
/// elements need them.
Value KernelLowering::apart(Value column, int64_t rows, Value count, Type element) {
  int64_t cols = std::max<int64_t>(16, machine_.limits.blockBytes / pto::elementBytes(element));
  Extents2 extents{rows, cols, count, constant(1)};
  auto dn = tileType(ir::Place::Vec, "dn", {rows, 1, count, constant(1)}, element);
  Value wide = allocate(ir::Place::Vec, "nd", extents, element, loc_);
  auto type = cast<pto::TileBufType>(wide.getType());
  Value seen = b_.create<pto::TReshapeOp>(
      loc_, dn, column, dn.getValidRows() == pto::kDynamic ? count : Value(),
      dn.getValidCols() == pto::kDynamic ? constant(1) : Value());
  if (type.getValidCols() != 1 && type.getValidCols() != pto::kDynamic)
    wide =
        window(wide, constant(0), constant(0), type.getRows(), type.getCols(), count, constant(1));
  emit(loc_, InstructionId::TRowExpand, {seen}, {wide});
  return wide;
}

/// Writes a row that does not lie side by side, or whose elements have positions of their own.
void KernelLowering::storeApart(const StoreTarget &target, Value row, int64_t cols, Value length,
                                Indices outer) {
  Type element = storedType(target.element);
  Value wide = apart(row, cols, length, element);
  auto positionAt = [&](Value along) {
    IndexVector at(outer.begin(), outer.end());
    at.push_back(along);
    return target.position(at);
  };
  if (!target.indexedLast) {
    Value view = matrixView(target.box->pointer, positionAt(constant(0)), length, constant(1),
                            target.box->axes.back().stride, target.element);
    emit(loc_, InstructionId::TStore, {wide}, {view}, target.attributes);
    return;
  }
  auto type = cast<pto::TileBufType>(wide.getType());
  forEach({length}, [&](Indices along) {
    Value view = matrixView(target.box->pointer, positionAt(along[0]), constant(1), constant(1),
                            constant(1), target.element);
    emit(loc_, InstructionId::TStore,
         {window(wide, along[0], constant(0), 1, type.getCols(), constant(1), constant(1))}, {view},
         target.attributes);
  });
}

void KernelLowering::storeBox(ir::StoreOp store, const BoxOperands &in,
                              llvm::ArrayRef<NamedAttribute> attributes) {
  loc_ = store.getLoc();
  Value value = store.getValue();
  Type valueType = storeBoxType(store);
  std::optional<GlobalBox> box = globalBox(store, in, valueType);
  std::optional<Tile> tile = operandTile(store, value);
  if (!box || !tile)
    return;
  if (tile->form == Form::Mask)
    tile = bytesOf(*tile, loc_);
  Type element = storedType(ir::elementTypeOf(store.getRef().getType()));
  StoreTarget target{&*box, element, {}, {attributes.begin(), attributes.end()}};
  std::optional<ShapedTile> index;
  size_t indexAxis = 0;
  if (store.getIndex()) {
    if (!(index = sourceOf(store, store.getIndex())))
      return;
    index->tile = materialise(index->tile, loc_);
    for (int64_t axis = 0; axis < static_cast<int64_t>(*store.getIndexAxis()); ++axis)
      indexAxis += !llvm::is_contained(in.dropped, axis);
    target.indexed = true;
    target.indexedLast = indexAxis + 1 == box->axes.size();
  }
  target.position = [&](Indices at) {
    IndexVector there(at.begin(), at.end());
    if (index)
      there[indexAxis] = asPosition(readElement(*index, {at[indexAxis]}));
    return elementAt(*box, there);
  };
  MemoryBox present;
  present.present = box->present;
  whenPresent(present, loc_, [&] {
    if (tile->form == Form::Splat)
      return storeSplat(target, tile->scalar);
    storeTile(target, shaped(materialise(*tile, loc_), valueType), valueType);
  });
}

/// One value to all elements of a box.
void KernelLowering::storeSplat(const StoreTarget &target, Value scalar) {
  const GlobalBox &box = *target.box;
  bool rows = !box.axes.empty() && isUnit(box.axes.back().stride) && !target.indexedLast;
  Tile tile;
  tile.element = target.element;
  tile.extents = rows ? Extents2{1, kFilledAtOnce, constant(1), constant(kFilledAtOnce)}
                      : Extents2{1, 1, constant(1), constant(1)};
  tile.form = Form::Whole;
  tile.buffer = allocateLike(tile, loc_);
  fillWith(tile, scalar, loc_);
  IndexVector lengths;
  for (const GlobalAxis &axis : box.axes)
    lengths.push_back(axis.length);
  if (rows)
    lengths.back() =
        b_.createOrFold<arith::CeilDivSIOp>(loc_, lengths.back(), constant(kFilledAtOnce));
  auto type = cast<pto::TileBufType>(tile.buffer.getType());
  forEach(lengths, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    Value count = constant(1);
    if (rows) {
      first.back() = times(first.back(), constant(kFilledAtOnce));
      count = minimum(b_.createOrFold<arith::SubIOp>(loc_, box.axes.back().length, first.back()),
                      constant(kFilledAtOnce));
    }
    Value view =
        matrixView(box.pointer, target.position(first), constant(1), count, count, target.element);
    emit(loc_, InstructionId::TStore,
         {window(tile.buffer, constant(0), constant(0), 1, type.getCols(), constant(1), count)},
         {view}, target.attributes);
  });
}

void KernelLowering::storeTile(const StoreTarget &target, const ShapedTile &from, Type valueType) {
  const GlobalBox &box = *target.box;
  size_t rank = box.axes.size();
  IndexVector lengths;
  for (const GlobalAxis &axis : box.axes)
    lengths.push_back(axis.length);
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(valueType);
  bool repeatsLast =
      rank > 0 &&
      (extents.empty() || (extents.back().isOne() && !matchPattern(lengths.back(), m_One())));
  auto type = cast<pto::TileBufType>(from.tile.buffer.getType());
  auto single = [&](Indices at) {
    Value element = readElement(from, broadcastPositions(valueType, at, constant(0)));
    b_.create<pto::StoreScalarOp>(loc_, box.pointer, target.position(at), element);
  };
  bool apart = takes(InstructionId::TRowExpand, {storedType(target.element)});
  bool column = from.tile.form == Form::Column;
  if (repeatsLast || (column && (!apart || target.indexedLast)))
    return forEach(lengths, single);
  if (column) // its rows are the last axis but one
    return storeColumn(target, from, lengths);
  bool sideBySide = isUnit(box.axes.back().stride) && !target.indexedLast;
  if (!sideBySide && !apart)
    return forEach(lengths, single);
  Value length = lengths.back();
  IndexVector outer(lengths.begin(), lengths.end());
  outer.pop_back();
  forEach(outer, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    first.push_back(constant(0));
    Value row =
        window(from.tile.buffer, rowAt(from, broadcastPositions(valueType, first, constant(0))),
               constant(0), 1, type.getCols(), constant(1), length);
    if (!sideBySide)
      return storeApart(target, row, type.getCols(), length, at);
    Value view = matrixView(box.pointer, target.position(first), constant(1), length, length,
                            target.element);
    emit(loc_, InstructionId::TStore, {row}, {view}, target.attributes);
  });
}

/// A column that stands between others: all rows at once where no index says where they go.
void KernelLowering::storeColumn(const StoreTarget &target, const ShapedTile &from,
                                 Indices lengths) {
  auto type = cast<pto::TileBufType>(from.tile.buffer.getType());
  const GlobalBox &box = *target.box;
  Value rows = from.tile.extents.validRows;
  Value wide = apart(from.tile.buffer, type.getCols(), rows, storedType(target.element));
  auto wideType = cast<pto::TileBufType>(wide.getType());
  bool oneRun = lengths.size() <= 2 && !target.indexed;
  if (oneRun) {
    IndexVector first(lengths.size(), constant(0));
    Value stride = lengths.size() == 2 ? box.axes[0].stride : constant(1);
    Value view =
        matrixView(box.pointer, target.position(first), rows, constant(1), stride, target.element);
    emit(loc_, InstructionId::TStore, {wide}, {view}, target.attributes);
    return;
  }
  forEach(lengths, [&](Indices at) {
    Value view = matrixView(box.pointer, target.position(at), constant(1), constant(1), constant(1),
                            target.element);
    emit(loc_, InstructionId::TStore,
         {window(wide, rowAt(from, at), constant(0), 1, wideType.getCols(), constant(1),
                 constant(1))},
         {view}, target.attributes);
  });
}

} // namespace ptl::block
