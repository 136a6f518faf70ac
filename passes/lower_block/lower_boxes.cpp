// Boxes of global memory that are no matrix: more than two axes, steps, elements that do not lie
// side by side, rows by position. They move row by row; where a row
// does not lie side by side, element by element.
#include "passes/lower_block/lower_boxes.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/load_outside.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

bool isUnit(Value value) { return !value || matchPattern(value, m_One()); }

// ---- where the elements lie ---------------------------------------------------------------------

/// The kept axes of a box, for a load, slice or store; nothing after an error.
std::optional<GlobalBox> globalBox(KernelContext &c, Operation *op, const BoxOperands &in,
                                   Type boxType) {
  GlobalBox box;
  box.pointer = c.pointers.lookup(in.array);
  llvm::SmallVector<Value> strides = stridesOf(c, in.array);
  if (!box.pointer || strides.size() != in.offsets.size()) {
    fail(c, op, "this array");
    return std::nullopt;
  }
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(boxType);
  auto store = dyn_cast<ir::StoreOp>(op);
  auto isIndexed = [&](size_t axis) { // there the elements of the index, dealt out, say where
    return store && store.getIndex() && static_cast<size_t>(*store.getIndexAxis()) == axis;
  };
  size_t numKept = in.offsets.size() - in.dropped.size(), next = 0;
  box.base = constant(c, 0);
  for (size_t axis = 0; axis < in.offsets.size(); ++axis) {
    Value offset = scalarOf(c, in.offsets[axis]);
    bool kept = !llvm::is_contained(in.dropped, static_cast<int64_t>(axis));
    Value step = in.steps.empty() ? Value() : scalarOf(c, in.steps[axis]);
    GlobalAxis made{constant(c, 1), times(c, strides[axis], isUnit(step) ? constant(c, 1) : step),
                    offset, isUnit(step) ? constant(c, 1) : step, globalLength(c, in.array, axis)};
    if (kept) {
      made.length = scalarOf(c, in.lengths[axis]);
      // The value's axes are the last ones of the box.
      size_t lead = numKept - std::min(numKept, extents.size());
      if (next >= lead) {
        const ir::Extent &extent = extents[next - lead];
        Value present;
        made.length = dealt(c, made.length, extent, &present);
        // The second vector core begins where the rows of the first one end.
        bool deals = c.core == CoreKind::Vector && c.cores.deals(extent.symbol);
        if (deals && !isIndexed(axis)) {
          Value first = times(c, c.subblock, constant(c, capacityOf(c, extent)));
          made.offset = plus(c, made.offset, times(c, first, made.step));
        }
        // As in `boxOf`, a part that does not exist is loaded from the end of the array. With a value for positions beyond the edges,
        // positions must stay as they are.
        if (deals && present && !in.outside && !store && !c.cores.written.contains(in.array))
          made.offset = minimum(c, made.offset,
                                c.b.createOrFold<arith::SubIOp>(
                                    c.loc, globalLength(c, in.array, axis), constant(c, 1)));
        else if (present)
          box.present = present;
        if (extent.symbol)
          // From here on the name means the length that this core has.
          c.lengths[extent.symbol] = made.length;
      }
      ++next;
    }
    // Positions of dropped axes count for the address as well.
    box.base = plus(c, box.base, times(c, made.offset, strides[axis]));
    if (kept)
      box.axes.push_back(made);
    else
      box.fixed.push_back(made);
  }
  box.present = onceOnly(c, op, box.present, extents);
  return box;
}

Value elementAt(KernelContext &c, const GlobalBox &box, Indices at) {
  Value element = box.base;
  for (auto [axis, position] : llvm::zip(box.axes, at))
    element = plus(c, element, times(c, position, axis.stride));
  return element;
}

Value matrixView(KernelContext &c, Value pointer, Value element, Value rows, Value cols,
                 Value rowStride, Type type) {
  MemoryBox box;
  box.pointer = pointer;
  box.base = element;
  box.matrixRows = rows;
  box.matrixCols = cols;
  box.rowStride = rowStride;
  box.row = box.col = constant(c, 0);
  Extents2 extents{1, 1, rows, cols};
  return partition(c, box, extents, storedType(type), c.loc);
}

Value readGlobal(KernelContext &c, Value pointer, Value element, Type type) {
  Value read = c.b.create<pto::LoadScalarOp>(c.loc, storedType(type), pointer, element);
  if (!type.isInteger(1))
    return read;
  return c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::ne, read,
                                   constantOf(c, read.getType(), 0));
}

// ---- loads --------------------------------------------------------------------------------------

static void loadRows(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
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
  // One instruction moves a whole matrix, where a window can have its shape.
  Value numRows = matrices ? outer.back() : constant(c, 1);
  Value rowStride = rank > 1 ? box.axes[rank - 2].stride : last.length;
  if (matrices)
    outer.back() = constant(c, 1);
  forEach(c, outer, [&](Indices at) {
    IndexVector first(at.begin(), at.end());
    first.push_back(constant(c, 0));
    Value view = matrixView(c, box.pointer, elementAt(c, box, first), numRows, last.length,
                            rowStride, to.tile.element);
    Value part = window(c, to.tile.buffer, rowAt(c, to, first), constant(c, 0), matrices ? rows : 1,
                        type.getCols(), numRows, last.length);
    emit(c, c.loc, InstructionId::TLoad, {view}, {part});
  });
}

/// Rows of a piece of whose elements only some are taken, in bytes.
static constexpr int64_t kBetweenBytes = 16384;

/// Fills a tile whose rows will have `count` of `most` elements and as many between them.
static void fillBehind(KernelContext &c, const Tile &between, Value count, int64_t most) {
  auto fill = [&] { fillWith(c, between, constantOf(c, between.element, 0), c.loc); };
  if (std::optional<int64_t> known = getConstantIntValue(count)) {
    if (*known != most)
      fill();
    return;
  }
  Value isShort =
      c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::ne, count, constant(c, most));
  branch(c.b, c.loc, isShort, fill, nullptr);
}

/// Every second element: rows are loaded with what lies between, some at a time, and an instruction takes the elements.
static void loadEverySecond(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
  size_t rank = box.axes.size();
  auto type = cast<pto::TileBufType>(to.tile.buffer.getType());
  IndexVector outer;
  for (const GlobalAxis &axis : llvm::ArrayRef(box.axes).drop_back())
    outer.push_back(axis.length);
  Value count = box.axes.back().length, span = spanOfEverySecond(c, count);
  // Rows of one matrix; those of several come one by one.
  int64_t all = rank == 2 ? type.getRows() : 1, cols = 2 * type.getCols();
  int64_t rows =
      std::clamp<int64_t>(kBetweenBytes / (cols * pto::elementBytes(to.tile.element)), 1, all);
  // The pieces have equally many rows, so that windows of one shape fit all of them.
  while (all % rows != 0)
    --rows;
  Tile between;
  between.element = to.tile.element;
  between.extents = {rows, cols, constant(c, rows), constant(c, cols)};
  between.form = Form::Whole;
  between.buffer = allocateLike(c, between, withoutName(c.loc));
  // Rows that do not fill theirs are taken at once with what is behind them, which has to be something. One by one they take longer only
  // where each instruction waits for the one before it, and where they are many: the load waits for what fills the tile.
  constexpr int64_t kManyRows = 16;
  bool fills = rows >= kManyRows && cols == 2 * type.getCols() && c.machine.vectorBarrier;
  auto take = [&](Indices at, Value numRows) {
    IndexVector first(at.begin(), at.end());
    first.push_back(constant(c, 0));
    if (fills)
      fillBehind(c, between, count, type.getCols());
    Value view = matrixView(c, box.pointer, elementAt(c, box, first), numRows, span,
                            rank > 1 ? box.axes[rank - 2].stride : span, to.tile.element);
    Value part =
        window(c, between.buffer, constant(c, 0), constant(c, 0), rows, cols, numRows, span);
    emit(c, c.loc, InstructionId::TLoad, {view}, {part});
    takeEverySecond(c, {between.buffer, constant(c, 0), to.tile.buffer, rowAt(c, to, first), rows,
                        numRows, span, count, /*fromSecond=*/false, fills});
  };
  if (rank != 2)
    return forEach(c, outer, [&](Indices at) { take(at, constant(c, 1)); });
  if (rows == all)
    return take({constant(c, 0)}, outer[0]);
  OpBuilder::InsertionGuard guard(c.b);
  auto loop =
      c.b.create<scf::ForOp>(withoutName(c.loc), constant(c, 0), outer[0], constant(c, rows));
  c.b.setInsertionPointToStart(loop.getBody());
  Value left = c.b.createOrFold<arith::SubIOp>(c.loc, outer[0], loop.getInductionVar());
  take({loop.getInductionVar()}, minimum(c, left, constant(c, rows)));
}

/// Elements that are loaded apart at once, and the fewest for which it pays to: a load takes as long as
/// the scalar unit takes to read some elements.
static constexpr int64_t kApartAtOnce = 256, kFewestApart = 16;

/// The largest step between elements of rows that are loaded with what lies between: more bytes than
/// that take longer than loading each element apart.
static constexpr int64_t kMostBetween = 16;

/// Calls `load` for `length` positions, of a row of `capacity`, in parts of `atOnce`. The last part
/// ends with the row, so where parts do not divide it, some positions come twice.
static void inParts(KernelContext &c, Value length, int64_t capacity, int64_t atOnce,
                    llvm::function_ref<void(Value first, Value count)> load) {
  if (atOnce == capacity)
    return load(constant(c, 0), length);
  OpBuilder::InsertionGuard guard(c.b);
  auto loop =
      c.b.create<scf::ForOp>(withoutName(c.loc), constant(c, 0), length, constant(c, atOnce));
  c.b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  if (capacity % atOnce != 0)
    first = minimum(c, first, constant(c, capacity - atOnce));
  Value left = c.b.createOrFold<arith::SubIOp>(c.loc, length, first);
  load(first, minimum(c, left, constant(c, atOnce)));
}

/// The number of the only axis along which a box may have several positions; none where it has several.
static std::optional<size_t> onlyAxis(const GlobalBox &box) {
  std::optional<size_t> only;
  for (auto [n, axis] : llvm::enumerate(box.axes))
    if (!isUnit(axis.length)) {
      if (only)
        return std::nullopt;
      only = n;
    }
  return only;
}

/// Elements that have one distance in memory, such as a column of a matrix, into rows in which they lie
/// side by side: each comes as a row of its own, which fills a block, and an instruction gathers them from
/// there. False, and nothing is emitted, where the forms or the machine do not permit it.
static bool loadApart(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
  auto type = cast<pto::TileBufType>(to.tile.buffer.getType());
  std::optional<size_t> only = onlyAxis(box);
  size_t along = only.value_or(box.axes.size() - 1);
  bool inRows = along + 1 == box.axes.size() && to.tile.form == Form::Whole;
  // In a tile of one value per row, rows are positions of all axes: their distance is one only along one.
  if (!(inRows || (only && type.getRows() == 1)) || type.getCols() < kFewestApart ||
      !gathersFirst(c, to.tile.element))
    return false;
  const GlobalAxis &axis = box.axes[along];
  int64_t atOnce = std::min(kApartAtOnce, type.getCols());
  Tile wide;
  wide.element = to.tile.element;
  wide.extents = {atOnce, 1, constant(c, atOnce), constant(c, 1)};
  wide.buffer = allocate(c, ir::Place::Vec, "nd", wide.extents, wide.element, withoutName(c.loc));
  auto wideType = cast<pto::TileBufType>(wide.buffer.getType());
  IndexVector outer;
  for (const GlobalAxis &own : box.axes)
    outer.push_back(own.length);
  outer[along] = constant(c, 1);
  forEach(c, outer, [&](Indices at) {
    Value start = elementAt(c, box, at);
    Value row = inRows ? rowAt(c, to, at) : constant(c, 0);
    inParts(c, axis.length, type.getCols(), atOnce, [&](Value first, Value count) {
      Value view = matrixView(c, box.pointer, plus(c, start, times(c, first, axis.stride)), count,
                              constant(c, 1), axis.stride, wide.element);
      Tile part = wide, into = to.tile;
      part.extents.validRows = count;
      part.buffer = window(c, wide.buffer, constant(c, 0), constant(c, 0), wideType.getRows(),
                           wideType.getCols(), count, constant(c, 1));
      emit(c, c.loc, InstructionId::TLoad, {view}, {part.buffer});
      into.form = Form::Whole;
      into.extents = {1, atOnce, constant(c, 1), count};
      into.buffer = window(c, to.tile.buffer, row, first, 1, atOnce, constant(c, 1), count);
      gatherFirst(c, part, into, c.loc);
    });
  });
  return true;
}

/// Elements of rows with a step: rows are loaded with what lies between, some at a time, and an
/// instruction gathers the elements. False, and nothing is emitted, as above.
static bool loadSpaced(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
  std::optional<int64_t> step = getConstantIntValue(box.axes.back().stride);
  int64_t bytes = pto::elementBytes(to.tile.element);
  if (to.tile.form != Form::Whole || !step || *step < 2 || *step > kMostBetween ||
      !gathersFirst(c, to.tile.element))
    return false;
  size_t rank = box.axes.size();
  auto type = cast<pto::TileBufType>(to.tile.buffer.getType());
  int64_t block = c.machine.limits.blockBytes / bytes, most = kBetweenBytes / (*step * bytes);
  int64_t cols = std::min(type.getCols(), std::max(most / block * block, block));
  // Rows of one matrix; those of several come one by one.
  int64_t rows = rank == 2 ? std::clamp<int64_t>(most / cols, 1, type.getRows()) : 1;
  Tile between = to.tile;
  between.extents = {rows, cols * *step, constant(c, rows), constant(c, cols * *step)};
  between.buffer = allocateLike(c, between, withoutName(c.loc));
  IndexVector outer;
  for (const GlobalAxis &axis : llvm::ArrayRef(box.axes).drop_back())
    outer.push_back(axis.length);
  Value rowStride = rank > 1 ? box.axes[rank - 2].stride : constant(c, 1);
  auto load = [&](const IndexVector &at, Value numRows) {
    inParts(c, box.axes.back().length, type.getCols(), cols, [&](Value first, Value count) {
      IndexVector start(at);
      start.push_back(first);
      Value behind = times(c, count, constant(c, *step));
      Value span = c.b.createOrFold<arith::MaxSIOp>(
          c.loc, c.b.createOrFold<arith::SubIOp>(c.loc, behind, constant(c, *step - 1)),
          constant(c, 0));
      Value view = matrixView(c, box.pointer, elementAt(c, box, start), numRows, span, rowStride,
                              to.tile.element);
      ShapedTile from{between, {numRows, span}}, into{to.tile, {numRows, count}};
      from.tile.extents = {rows, cols * *step, numRows, span};
      from.tile.buffer = window(c, between.buffer, constant(c, 0), constant(c, 0), rows,
                                cols * *step, numRows, span);
      emit(c, c.loc, InstructionId::TLoad, {view}, {from.tile.buffer});
      into.tile.extents = {rows, cols, numRows, count};
      into.tile.buffer =
          window(c, to.tile.buffer, rowAt(c, to, start), first, rows, cols, numRows, count);
      gatherColumns(c, from, into, {constant(c, 0), constant(c, 0), count, *step}, c.loc);
    });
  };
  if (rank != 2)
    forEach(c, outer, [&](Indices at) { load(IndexVector(at), constant(c, 1)); });
  else
    inParts(c, outer[0], type.getRows(), rows,
            [&](Value first, Value count) { load({first}, count); });
  return true;
}

static void loadElements(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
  IndexVector lengths;
  for (const GlobalAxis &axis : box.axes)
    lengths.push_back(axis.length);
  forEach(c, lengths, [&](Indices at) {
    writeElement(c, to, at, readGlobal(c, box.pointer, elementAt(c, box, at), to.tile.element));
  });
}

/// Elements that lie side by side from `element` on, into a row of a tile.
static void loadRow(KernelContext &c, const ShapedTile &to, Indices at, Value pointer,
                    Value element, Value length) {
  int64_t cols = cast<pto::TileBufType>(to.tile.buffer.getType()).getCols();
  Value view = matrixView(c, pointer, element, constant(c, 1), length, length, to.tile.element);
  emit(c, c.loc, InstructionId::TLoad, {view},
       {window(c, to.tile.buffer, rowAt(c, to, at), constant(c, 0), 1, cols, constant(c, 1),
               length)});
}

/// A new buffer for what is loaded: conditions come as the bytes that they are in global memory.
static std::optional<ShapedTile> newBox(KernelContext &c, Operation *op) {
  Type type = op->getResult(0).getType(), element = ir::elementTypeOf(type);
  if (!element.isInteger(1))
    return newResult(c, op);
  std::optional<Tile> bytes = tileFor(c, op, type);
  if (!bytes)
    return std::nullopt;
  bytes->element = storedType(element);
  bytes->form = formOf(bytes->extents);
  bytes->buffer = allocateLike(c, *bytes, op->getLoc());
  return shaped(c, *bytes, type);
}

bool liesInRows(const GlobalBox &box, const ShapedTile &to) {
  return isUnit(box.axes.back().stride) && to.tile.form == Form::Whole;
}

void loadPresent(KernelContext &c, const GlobalBox &box, const ShapedTile &to) {
  if (getConstantIntValue(box.axes.back().stride) == 2 && takesEverySecond(c, to))
    return loadEverySecond(c, box, to);
  if (liesInRows(box, to))
    return loadRows(c, box, to);
  if (!loadSpaced(c, box, to) && !loadApart(c, box, to))
    loadElements(c, box, to);
}

/// A box that is no matrix into the vector memory.
void loadBox(KernelContext &c, Operation *op, const BoxOperands &in) {
  Value result = op->getResult(0);
  c.loc = op->getLoc();
  std::optional<GlobalBox> box = globalBox(c, op, in, result.getType());
  if (!box)
    return;
  Value outside = in.outside ? scalarOf(c, in.outside) : Value();
  Type element = ir::elementTypeOf(result.getType());
  if (isScalar(c, result)) {
    if (!outside) {
      c.scalars[result] = readGlobal(c, box->pointer, box->base, element);
      return;
    }
    auto branch =
        c.b.create<scf::IfOp>(c.loc, element, isInside(c, *box, {}), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(&branch.getThenRegion().front());
    c.b.create<scf::YieldOp>(c.loc, readGlobal(c, box->pointer, box->base, element));
    c.b.setInsertionPointToStart(&branch.getElseRegion().front());
    c.b.create<scf::YieldOp>(c.loc, outside);
    c.scalars[result] = branch.getResult(0);
    return;
  }
  // Products read matrices only.
  if (c.core == CoreKind::Cube)
    return fail(c, op, "a box that is no matrix, as operand of a product,");
  std::optional<ShapedTile> to = newBox(c, op);
  if (!to)
    return;
  c.loc = withoutName(c.loc); // it is the tile's
  if (outside && element.isInteger(1))
    outside = c.b.createOrFold<arith::ExtUIOp>(c.loc, to->tile.element, outside);
  MemoryBox present;
  present.present = box->present;
  if (box->present)
    // A part that is not there must not hold what was in the buffer before.
    fillWith(c, to->tile, constantOf(c, to->tile.element, 0), c.loc);
  whenPresent(c, present, c.loc, [&] {
    if (!outside)
      return loadPresent(c, *box, *to);
    Value isWhole =
        c.b.createOrFold<arith::AndIOp>(c.loc, allInside(c, box->axes), allInside(c, box->fixed));
    branch(
        c.b, c.loc, isWhole, [&] { loadPresent(c, *box, *to); },
        [&] { loadInside(c, *box, *to, outside, c.cores.written.contains(in.array)); });
  });
  // Bytes are packed to bits only when all of them are there.
  if (element.isInteger(1))
    setTile(c, result, conditionsOf(c, to->tile, c.loc));
}

/// The positions of a row of them as words of two each, where the machine reads such; null for others. The scalar unit takes as long for two
/// positions as for one, and longer than a row of memory takes to come.
static Value pairsOf(KernelContext &c, const ShapedTile &index) {
  auto type = cast<pto::TileBufType>(index.tile.buffer.getType());
  Type pair = c.b.getI64Type();
  bool isRow = index.lengths.size() == 1 && type.getRows() == 1 && index.tile.form == Form::Whole &&
               index.tile.element.isSignlessInteger(32);
  // A window may begin within a pair.
  if (!isRow || index.tile.buffer.getDefiningOp<pto::SubsetOp>() ||
      !c.machine.supports("tgetval", {"i64"}))
    return {};
  return wordsOf(c, index.tile.buffer, pair);
}

/// Calls `body` for each position of a row of them, with its number: two positions are read at a time. They are no negative numbers.
static void forEachPair(KernelContext &c, const ShapedTile &index, Value pairs,
                        llvm::function_ref<void(Value, Value)> body) {
  constexpr int64_t kBase = int64_t(1) << 32;
  Value count = index.lengths.front(), two = constant(c, 2);
  Value whole = c.b.createOrFold<arith::DivUIOp>(c.loc, count, two);
  forEach(c, {whole}, [&](Indices at) {
    Value both = c.b.create<pto::TGetValOp>(c.loc, c.b.getI64Type(), pairs, at.front());
    both = asPosition(c, both);
    Value number = times(c, at.front(), two), base = constant(c, kBase);
    body(number, c.b.createOrFold<arith::RemUIOp>(c.loc, both, base));
    body(plus(c, number, constant(c, 1)), c.b.createOrFold<arith::DivUIOp>(c.loc, both, base));
  });
  // Behind the last one of an odd number there is no other.
  Value rest = c.b.createOrFold<arith::RemUIOp>(c.loc, count, two);
  Value isOdd =
      c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::ne, rest, constant(c, 0));
  if (getConstantIntValue(isOdd) == 0)
    return;
  branch(c.b, c.loc, isOdd,
         [&] {
           Value last = times(c, whole, two);
           body(last, asPosition(c, readElement(c, index, {last})));
         },
         {});
}

/// Rows or elements of an array in global memory, or of a box of one, by position.
void takeGlobal(KernelContext &c, Operation *op, Operation *box) {
  auto take = cast<ir::TakeOp>(op);
  c.loc = op->getLoc();
  auto axis = static_cast<size_t>(take.getAxis());
  Value array = box ? box->getOperand(0) : take.getSource();
  std::optional<ShapedTile> index = sourceOf(c, op, take.getIndex());
  std::optional<ShapedTile> to = index ? newResult(c, op) : std::nullopt;
  if (!to)
    return;
  Type element = to->tile.element;
  Value pointer = c.pointers.lookup(array), base = constant(c, 0);
  llvm::SmallVector<Value> all = stridesOf(c, array), strides;
  // Conditions lie in memory as bytes, and this way reads elements as they are.
  if (all.empty() || element.isInteger(1))
    return fail(c, op, "`take` of this array");
  BoxOperands in = box ? operandsOf(box) : BoxOperands();
  for (auto [n, stride] : llvm::enumerate(all)) {
    if (box)
      base = plus(c, base, times(c, scalarOf(c, in.offsets[n]), stride));
    if (!box || !llvm::is_contained(in.dropped, static_cast<int64_t>(n)))
      strides.push_back(stride);
  }
  // Along the last axis each element has a position of its own.
  bool rows =
      axis + 1 < to->lengths.size() && to->tile.form == Form::Whole && isUnit(strides.back());
  IndexVector lengths = IndexVector(to->lengths);
  if (rows)
    lengths.back() = constant(c, 1);
  Value pairs = rows && to->lengths.size() == 2 ? pairsOf(c, *index) : Value();
  if (pairs)
    return forEachPair(c, *index, pairs, [&](Value number, Value position) {
      loadRow(c, *to, {number, constant(c, 0)}, pointer,
              plus(c, base, times(c, position, strides.front())), to->lengths.back());
    });
  forEach(c, lengths, [&](Indices at) {
    Value from = base;
    for (size_t n = 0; n < at.size(); ++n)
      from = plus(
          c, from,
          times(c, n == axis ? asPosition(c, readElement(c, *index, {at[n]})) : at[n], strides[n]));
    if (!rows)
      return writeElement(c, *to, at, readGlobal(c, pointer, from, element));
    loadRow(c, *to, at, pointer, from, to->lengths.back());
  });
}

} // namespace ptl::block
