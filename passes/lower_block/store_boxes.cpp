// Stores to boxes of global memory that are no matrix: rows where these lie side by side, else columns
// or single elements.
#include "passes/lower_block/store_boxes.h"

#include "passes/analysis/source_place.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static void storeSplat(KernelContext &c, const StoreTarget &target, Value scalar);
static void storeTile(KernelContext &c, const StoreTarget &target, const ShapedTile &from,
                      Type valueType);
static void storeColumn(KernelContext &c, const StoreTarget &target, const ShapedTile &from,
                        Indices lengths);

namespace {
/// Elements of one value that are stored to many.
constexpr int64_t kFilledAtOnce = 64;
} // namespace

/// A column of `count` values, each at the begin of a block of its own, as stores of single
/// elements need them.
Value apart(KernelContext &c, Value column, int64_t rows, Value count, Type element) {
  Extents2 extents{rows, 1, count,
                   constant(c, 1)}; // a block wide, also where rows of masks need more
  auto dn = tileType(c, ir::Place::Vec, "dn", {rows, 1, count, constant(c, 1)}, element);
  Value wide = allocate(c, ir::Place::Vec, "nd", extents, element, c.loc);
  auto type = cast<pto::TileBufType>(wide.getType());
  Value seen = c.b.create<pto::TReshapeOp>(
      c.loc, dn, column, dn.getValidRows() == pto::kDynamic ? count : Value(),
      dn.getValidCols() == pto::kDynamic ? constant(c, 1) : Value());
  if (type.getValidCols() != 1 && type.getValidCols() != pto::kDynamic)
    wide = window(c, wide, constant(c, 0), constant(c, 0), type.getRows(), type.getCols(), count,
                  constant(c, 1));
  // Repeating a column along a block is what moves its elements apart.
  emit(c, c.loc, InstructionId::TRowExpand, {seen}, {wide});
  return wide;
}

/// Writes a row that does not lie side by side, or whose elements have positions of their own.
static void storeApart(KernelContext &c, const StoreTarget &target, Value row, int64_t cols,
                       Value length, Indices outer) {
  Type element = storedType(target.element);
  Value wide = apart(c, row, cols, length, element);
  auto positionAt = [&](Value along) {
    IndexVector at(outer.begin(), outer.end());
    at.push_back(along);
    return target.position(at);
  };
  // All elements of the row have one distance, so that they are one column in memory.
  if (!target.indexedLast) {
    Value view = matrixView(c, target.box->pointer, positionAt(constant(c, 0)), length,
                            constant(c, 1), target.box->axes.back().stride, target.element);
    emit(c, c.loc, InstructionId::TStore, {wide}, {view}, target.attributes);
    return;
  }
  auto type = cast<pto::TileBufType>(wide.getType());
  forEach(c, {length}, [&](Indices along) {
    Value view = matrixView(c, target.box->pointer, positionAt(along[0]), constant(c, 1),
                            constant(c, 1), constant(c, 1), target.element);
    emit(c, c.loc, InstructionId::TStore,
         {window(c, wide, along[0], constant(c, 0), 1, type.getCols(), constant(c, 1),
                 constant(c, 1))},
         {view}, target.attributes);
  });
}

void storeBox(KernelContext &c, ir::StoreOp store, const BoxOperands &in,
              llvm::ArrayRef<NamedAttribute> attributes) {
  c.loc = store.getLoc();
  Value value = store.getValue();
  Type valueType = storeBoxType(c, store);
  std::optional<GlobalBox> box = globalBox(c, store, in, valueType);
  std::optional<Tile> tile = operandTile(c, store, value);
  if (!box || !tile)
    return;
  if (tile->form == Form::Mask)
    // In global memory a condition is a byte.
    tile = bytesOf(c, *tile, c.loc);
  Type element = storedType(ir::elementTypeOf(store.getRef().getType()));
  StoreTarget target{&*box, element, {}, {attributes.begin(), attributes.end()}};
  std::optional<ShapedTile> index;
  size_t indexAxis = 0;
  if (store.getIndex()) {
    if (!(index = sourceOf(c, store, store.getIndex())))
      return;
    index->tile = materialise(c, index->tile, c.loc);
    for (int64_t axis = 0; axis < static_cast<int64_t>(*store.getIndexAxis()); ++axis)
      // The axis is counted among those that are kept.
      indexAxis += !llvm::is_contained(in.dropped, axis);
    target.indexed = true;
    target.indexedLast = indexAxis + 1 == box->axes.size();
  }
  target.position = [&](Indices at) {
    IndexVector there(at.begin(), at.end());
    if (index)
      there[indexAxis] = asPosition(c, readElement(c, *index, {at[indexAxis]}));
    return elementAt(c, *box, there);
  };
  MemoryBox present;
  present.present = box->present;
  whenPresent(c, present, c.loc, [&] {
    if (tile->form == Form::Splat)
      return storeSplat(c, target, tile->scalar);
    storeTile(c, target, shaped(c, materialise(c, *tile, c.loc), valueType), valueType);
  });
}

/// Whether elements of the last axis lie side by side, so that several are stored at once.
static bool storesRows(const StoreTarget &target) {
  const GlobalBox &box = *target.box;
  return !box.axes.empty() && isUnit(box.axes.back().stride) && !target.indexedLast;
}

/// A short piece of a row, or one element: it is filled once with a value, and stored again and again.
static Tile newPiece(KernelContext &c, const StoreTarget &target) {
  Tile piece;
  piece.element = target.element;
  piece.extents = storesRows(target)
                      ? Extents2{1, kFilledAtOnce, constant(c, 1), constant(c, kFilledAtOnce)}
                      : Extents2{1, 1, constant(c, 1), constant(c, 1)};
  piece.form = Form::Whole;
  piece.buffer = allocateLike(c, piece, c.loc);
  return piece;
}

/// How many pieces each axis of the box takes.
static IndexVector piecesOf(KernelContext &c, const StoreTarget &target) {
  IndexVector lengths;
  for (const GlobalAxis &axis : target.box->axes)
    lengths.push_back(axis.length);
  if (storesRows(target))
    lengths.back() =
        c.b.createOrFold<arith::CeilDivSIOp>(c.loc, lengths.back(), constant(c, kFilledAtOnce));
  return lengths;
}

static void storePiece(KernelContext &c, const StoreTarget &target, const Tile &piece, Indices at) {
  const GlobalBox &box = *target.box;
  auto type = cast<pto::TileBufType>(piece.buffer.getType());
  IndexVector first(at.begin(), at.end());
  Value count = constant(c, 1);
  if (storesRows(target)) {
    first.back() = times(c, first.back(), constant(c, kFilledAtOnce));
    // The last piece of a row may be short.
    count = minimum(c, c.b.createOrFold<arith::SubIOp>(c.loc, box.axes.back().length, first.back()),
                    constant(c, kFilledAtOnce));
  }
  Value view = matrixView(c, box.pointer, target.position(first), constant(c, 1), count, count,
                          target.element);
  emit(c, c.loc, InstructionId::TStore,
       {window(c, piece.buffer, constant(c, 0), constant(c, 0), 1, type.getCols(), constant(c, 1),
               count)},
       {view}, target.attributes);
}

/// One value to all elements of a box.
static void storeSplat(KernelContext &c, const StoreTarget &target, Value scalar) {
  Tile piece = newPiece(c, target);
  fillWith(c, piece, scalar, c.loc);
  forEach(c, piecesOf(c, target), [&](Indices at) { storePiece(c, target, piece, at); });
}

/// Elements of a tile one by one, where no instruction stores them together. The scalar unit stores
/// a value as it is; what is added on the way (`target.attributes`) goes by the store unit, in pieces
/// along the last axis if the value repeats there.
static void storeSingly(KernelContext &c, const StoreTarget &target, const ShapedTile &from,
                        Type valueType, Indices lengths, bool repeatsLast) {
  auto valueAt = [&](Indices at) {
    return readElement(c, from, broadcastPositions(valueType, at, constant(c, 0)));
  };
  if (target.attributes.empty())
    return forEach(c, lengths, [&](Indices at) {
      c.b.create<pto::StoreScalarOp>(c.loc, target.box->pointer, target.position(at), valueAt(at));
    });
  StoreTarget each = target;
  // Where the value does not repeat, pieces have one element, as those with positions of their own.
  each.indexedLast |= !repeatsLast;
  Tile piece = newPiece(c, each);
  IndexVector outer = piecesOf(c, each);
  Value pieces = storesRows(each) ? outer.pop_back_val() : Value();
  forEach(c, outer, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    if (pieces)
      first.push_back(constant(c, 0));
    fillWith(c, piece, valueAt(first), c.loc);
    if (!pieces)
      return storePiece(c, each, piece, first);
    forEach(c, {pieces}, [&](Indices along) {
      first.back() = along[0];
      storePiece(c, each, piece, first);
    });
  });
}

static void storeTile(KernelContext &c, const StoreTarget &target, const ShapedTile &from,
                      Type valueType) {
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
  auto singly = [&] { storeSingly(c, target, from, valueType, lengths, repeatsLast); };
  // Without this instruction only the scalar unit can store single elements.
  bool apart = takes(c, InstructionId::TRowExpand, {storedType(target.element)});
  bool column = from.tile.form == Form::Column;
  if (repeatsLast || (column && (!apart || target.indexedLast)))
    return singly();
  if (column) // its rows are the last axis but one
    return storeColumn(c, target, from, lengths);
  bool sideBySide = isUnit(box.axes.back().stride) && !target.indexedLast;
  if (!sideBySide && !apart)
    return singly();
  Value length = lengths.back();
  // Rows that have one distance in memory are one box with that stride.
  bool oneRun = sideBySide && rank == 2 && !target.indexed && !extents.front().isOne();
  if (oneRun) {
    Value view = matrixView(c, box.pointer, target.position({constant(c, 0), constant(c, 0)}),
                            lengths.front(), length, box.axes.front().stride, target.element);
    emit(c, c.loc, InstructionId::TStore, {from.tile.buffer}, {view}, target.attributes);
    return;
  }
  IndexVector outer(lengths.begin(), lengths.end());
  outer.pop_back();
  forEach(c, outer, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    first.push_back(constant(c, 0));
    Value row = window(c, from.tile.buffer,
                       rowAt(c, from, broadcastPositions(valueType, first, constant(c, 0))),
                       constant(c, 0), 1, type.getCols(), constant(c, 1), length);
    if (!sideBySide)
      return storeApart(c, target, row, type.getCols(), length, at);
    Value view = matrixView(c, box.pointer, target.position(first), constant(c, 1), length, length,
                            target.element);
    emit(c, c.loc, InstructionId::TStore, {row}, {view}, target.attributes);
  });
}

/// A column that stands between others: all rows at once where no index says where they go.
static void storeColumn(KernelContext &c, const StoreTarget &target, const ShapedTile &from,
                        Indices lengths) {
  auto type = cast<pto::TileBufType>(from.tile.buffer.getType());
  const GlobalBox &box = *target.box;
  Value rows = from.tile.extents.validRows;
  Value wide = apart(c, from.tile.buffer, type.getCols(), rows, storedType(target.element));
  auto wideType = cast<pto::TileBufType>(wide.getType());
  // The rows of one column have one distance in memory, so that they are one box with that stride.
  bool oneRun = lengths.size() <= 2 && !target.indexed;
  if (oneRun) {
    IndexVector first(lengths.size(), constant(c, 0));
    Value stride = lengths.size() == 2 ? box.axes[0].stride : constant(c, 1);
    Value view = matrixView(c, box.pointer, target.position(first), rows, constant(c, 1), stride,
                            target.element);
    emit(c, c.loc, InstructionId::TStore, {wide}, {view}, target.attributes);
    return;
  }
  forEach(c, lengths, [&](Indices at) {
    Value view = matrixView(c, box.pointer, target.position(at), constant(c, 1), constant(c, 1),
                            constant(c, 1), target.element);
    emit(c, c.loc, InstructionId::TStore,
         {window(c, wide, rowAt(c, from, at), constant(c, 0), 1, wideType.getCols(), constant(c, 1),
                 constant(c, 1))},
         {view}, target.attributes);
  });
}

} // namespace ptl::block
