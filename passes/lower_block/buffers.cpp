// Buffers of tiles: their types, where they are made, when one is used again, and the forms a value
// can be read in.
#include "passes/lower_block/buffers.h"
#include "frontend/base/round_up.h"
#include "ir/dialect/windows.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

static mlir::Value shared(KernelContext &c, mlir::Type type, int64_t turn,
                          llvm::function_ref<mlir::Value()> make);

void findWideRows(KernelContext &c, ir::ParallelOp grid) {
  auto rowOf = [&](Type type) {
    int64_t rows = 1, cols = 1;
    for (const ir::Extent &extent : ir::extentsOf(type)) {
      rows *= cols;
      cols = std::max<int64_t>(capacityOf(c, extent), 1);
    }
    // A column is kept as a row.
    return cols == 1 ? rows : cols;
  };
  auto isTile = [](Value value) { return isa<ir::ArrayType>(value.getType()); };
  auto isByte = [&](Value value) {
    return isTile(value) && ir::elementTypeOf(value.getType()).getIntOrFloatBitWidth() == 8;
  };
  // Bytes go by way of longer elements in what has no instruction for them: conversions, and moves
  // between and within tiles. Conversions take tiles of one shape.
  auto takesBytes = [&](Operation *op) {
    bool loads = isa<ir::SliceOp, ir::LoadOp>(op) && isGlobal(op->getOperand(0));
    return !loads && !isa<ir::StoreOp, ir::MatmulOp>(op);
  };
  grid.walk([&](Operation *op) {
    // A mask in the shape of its operands takes a byte where they have a word, so rows are padded
    // for bytes.
    bool compares = isa<ir::EqOp, ir::NeOp, ir::LtOp, ir::LeOp, ir::GtOp, ir::GeOp>(op) &&
                    c.machine.maskOfOperandShape;
    if (auto store = dyn_cast<ir::StoreOp>(op)) { // conditions lie in global memory as bytes
      if (isTile(store.getValue()) && ir::elementTypeOf(store.getValue().getType()).isInteger(1))
        c.wideRows.insert(rowOf(store.getValue().getType()));
    } else if (op->getNumResults() == 1 && isTile(op->getResult(0))) {
      Type type = op->getResult(0).getType();
      bool loads = isa<ir::SliceOp, ir::LoadOp>(op) && ir::elementTypeOf(type).isInteger(1);
      if (loads || (compares && llvm::all_of(op->getOperands(), isTile)))
        c.wideRows.insert(rowOf(type));
    }
    if (takesBytes(op))
      for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
        for (Value value : llvm::make_filter_range(values, isByte))
          c.wideRows.insert(rowOf(value.getType()));
    // Sorting compares its rows with themselves, to find what is no number.
    if (isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op) && c.machine.maskOfOperandShape)
      c.wideRows.insert(rowOf(op->getOperand(0).getType()));
  });
}

/// Rows and columns of a box of an accumulator.
static constexpr int64_t kBoxOfResults = 16;

/// `least`: elements of a row in the vector memory.
static pto::TileBufType paddedType(KernelContext &c, ir::Place place, llvm::StringRef layoutName,
                                   const Extents2 &extents, Type element, int64_t least) {
  pto::Layout layout = *pto::layoutByName(layoutName);
  // A kernel of length 0 has buffers all the same.
  int64_t rows = std::max<int64_t>(extents.rows, 1), cols = std::max<int64_t>(extents.cols, 1),
          block = 32 / std::max<int64_t>(1, pto::elementBytes(element));
  if (layout.inner != pto::Layout::None) {
    // The memory of the cube core is divided into fractals, of which only whole ones exist. Scales lie in pairs, for as
    // many lines as the operand has.
    bool isScale = layout.fractal == 32, isRight = layout.inner == pto::Layout::ColMajor;
    int64_t fractal = layout.fractal == 1024 ? 16 : std::max<int64_t>(16, block);
    // What a product takes has the rows and columns of its result, whose boxes are those of accumulators.
    bool isLeftOperand = place == ir::Place::Left, isRightOperand = place == ir::Place::Right;
    rows = roundUp(rows, isScale && isRight ? 2 : isLeftOperand ? kBoxOfResults : fractal);
    cols = roundUp(cols, isScale && !isRight ? 2 : isRightOperand ? kBoxOfResults : fractal);
  } else if (layout.box == pto::Layout::RowMajor) {
    cols = roundUp(cols, std::max(least, block));
  } else {
    // Columns lie one behind the other, so each of them takes whole blocks of 32 bytes.
    rows = roundUp(rows, block);
  }
  auto valid = [&](Value length, int64_t capacity) -> int64_t {
    // Instructions want the lengths of their operands alike, so all of them are values or none is.
    if (c.dynamicValid)
      return pto::kDynamic;
    IntegerAttr number;
    return length && matchPattern(length, m_Constant(&number)) ? std::min(number.getInt(), capacity)
                                                               : capacity;
  };
  return pto::TileBufType::get(c.b.getContext(), place, rows, cols, element,
                               valid(extents.validRows, extents.rows),
                               valid(extents.validCols, extents.cols), layout);
}

/// 16 elements at least, as boxes have, so that a tile has the same rows on either side of a queue.
static constexpr int64_t kLeastOfRow = 16;

pto::TileBufType tileType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                          const Extents2 &extents, Type element) {
  bool isWide = place == ir::Place::Vec && c.wideRows.contains(std::max<int64_t>(extents.cols, 1));
  return paddedType(c, place, layout, extents, element, isWide ? 32 : kLeastOfRow);
}

pto::TileBufType crossingType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                              const Extents2 &extents, Type element) {
  return paddedType(c, place, layout, extents, element, kLeastOfRow);
}

Value allocateCrossing(KernelContext &c, const Extents2 &extents, Type element, Location loc) {
  pto::TileBufType type = crossingType(c, ir::Place::Vec, "nd", extents, element);
  return c.b.create<pto::AllocTileOp>(
      loc, type, Value(), type.getValidRows() == pto::kDynamic ? extents.validRows : Value(),
      type.getValidCols() == pto::kDynamic ? extents.validCols : Value());
}

Value allocate(KernelContext &c, ir::Place place, llvm::StringRef layout, const Extents2 &extents,
               Type element, Location loc, bool rotates) {
  pto::TileBufType type = tileType(c, place, layout, extents, element);
  Value rows = type.getValidRows() == pto::kDynamic ? extents.validRows : Value();
  Value cols = type.getValidCols() == pto::kDynamic ? extents.validCols : Value();
  // Parts of a product take turns in two buffers where the product as a whole would rotate.
  bool isPart = c.part.isPart() && rotates && c.rotations.size() == c.productRotations;
  // Two buffers are enough: while one part is computed, the next one is loaded.
  if (isPart) {
    pto::TileBufType whole = type.withValid(type.getRows(), type.getCols());
    Value buffer = shared(c, whole, c.part.number % 2, [&]() -> Value {
      return c.b.create<pto::AllocTileOp>(loc, whole, Value(), Value(), Value());
    });
    return reshape(c, buffer, type, rows, cols);
  }
  // Outside of a pipelined loop there is nothing to overlap with.
  if (!rotates || c.rotations.empty() || c.rotations.back().count < 2)
    return c.b.create<pto::AllocTileOp>(loc, type, Value(), rows, cols);
  const Rotation &rotation = c.rotations.back();
  auto slotsType = pto::MultiTileBufType::get(c.b.getContext(), type, rotation.count);
  Value slots = shared(c, slotsType, 0, [&]() -> Value {
    OpBuilder::InsertionGuard guard(c.b);
    // The buffers are made in front of the loop that takes turns in them.
    c.b.setInsertionPoint(c.part.isPart() ? c.rotations[c.productRotations].loop : rotation.loop);
    return c.b.create<pto::AllocMultiTileOp>(loc, slotsType, Value());
  });
  return c.b.create<pto::MultiTileGetOp>(loc, type, slots, rotation.slot, rows, cols);
}

/// A buffer that the parts of a product use in turn, or one of its own. All parts make those of one
/// type in the same order; the last one may need others, since its rows may be fewer.
static Value shared(KernelContext &c, Type type, int64_t turn, llvm::function_ref<Value()> make) {
  if (!c.part.isPart())
    return make();
  Value &buffer = c.partBuffers[{c.part.group, type, c.productBuffers[type]++, turn}];
  return buffer ? buffer : buffer = make();
}

/// Bytes of a row of a mask: packed bits. Where a mask has the shape of the operands most of it is
/// not used.
static int64_t maskBytes(const KernelContext &c, int64_t cols) {
  return c.machine.maskOfOperandShape ? roundUp(cols, 32) : roundUp((cols + 7) / 8, 32);
}

// A column is kept as a row, so that elementwise instructions fill their lanes; a mask as bytes.
std::pair<Extents2, Type> storage(KernelContext &c, const Tile &tile) {
  Extents2 extents = tile.extents;
  bool isColumn = extents.cols == 1 && extents.rows > 1;
  if (tile.form == Tile::Form::Column || (tile.form == Tile::Form::Mask && isColumn)) {
    // The column is one row now.
    std::swap(extents.rows, extents.cols);
    std::swap(extents.validRows, extents.validCols);
  }
  if (tile.form != Tile::Form::Mask)
    return {extents, tile.element};
  // The words that the bits of a row need, for all of its columns.
  extents.validCols = constant(c, (extents.cols + 15) / 16 * 2);
  extents.cols = maskBytes(c, extents.cols);
  return {extents, c.b.getI8Type()};
}

Value allocateLike(KernelContext &c, const Tile &like, Location loc) {
  auto [extents, element] = storage(c, like);
  return allocate(c, ir::Place::Vec, "nd", extents, element, loc);
}

pto::TileBufType allocateType(KernelContext &c, const Tile &like) {
  auto [extents, element] = storage(c, like);
  return tileType(c, ir::Place::Vec, "nd", extents, element);
}

/// Whether the result of `op` may be written to `buffer`. What `op` reads at `inPlace` it reads
/// element by element where it writes, if the operand lies there in the same form.
static bool mayWrite(KernelContext &c, Operation *op, Value buffer,
                     llvm::ArrayRef<unsigned> inPlace) {
  llvm::SmallVector<unsigned> aligned;
  for (unsigned number : inPlace)
    if (const Tile *tile = tileOf(c, op->getOperand(number));
        tile && tile->buffer && tile->buffer.getType() == buffer.getType())
      aligned.push_back(number);
  return c.sharing.mayOverwrite(pto::rootOf(buffer), op, aligned);
}

// The buffer for the result of `op`: the one that is wanted for it, that of an operand which is not
// needed afterwards, or a new one. `inPlace` lists the operands that the instruction may overwrite.
Value destination(KernelContext &c, Operation *op, const Tile &like,
                  llvm::ArrayRef<unsigned> inPlace) {
  Value result = op->getResult(0);
  pto::TileBufType wanted = allocateType(c, like);
  auto fits = [&](Value buffer) { return buffer.getType() == wanted; };
  // A loop's variable is computed where it is kept, if that may be overwritten.
  if (Value buffer = c.wanted.lookup(result);
      buffer && fits(buffer) && mayWrite(c, op, buffer, inPlace))
    return buffer;
  for (unsigned number : inPlace) {
    const Tile *tile = tileOf(c, op->getOperand(number));
    // Only a buffer of exactly this type and form can be written in its place.
    if (!tile || !tile->buffer || tile->form != like.form || !fits(tile->buffer) ||
        !mayWrite(c, op, tile->buffer, inPlace))
      continue;
    // The scalar unit fills in positions: in a buffer of their own it need not wait for
    // instructions.
    if (llvm::any_of(c.sharing.valuesIn(pto::rootOf(tile->buffer)),
                     [](Value value) { return value.getDefiningOp<ir::IndexOp>(); }))
      continue;
    // Rotating buffers stay for their loads; what was popped may go on in its slot, and a slice of
    // that in its buffer, until the next one is loaded there.
    Operation *maker = pto::rootOf(tile->buffer).getDefiningOp();
    bool popped = isa_and_nonnull<pto::DeclareTileOp>(maker);
    if (popped && outlivesSlot(c, result, maker->getResult(0)))
      continue;
    Value slice = c.slices.lookup(pto::rootOf(tile->buffer));
    if (slice && outlivesSlice(c, result, slice))
      continue;
    bool isSlot = isa_and_nonnull<pto::MultiTileGetOp>(maker);
    if (!popped && !slice &&
        (isSlot || isa_and_nonnull<pto::TReshapeOp>(tile->buffer.getDefiningOp())))
      continue;
    return tile->buffer;
  }
  return allocateLike(c, like, op->getLoc());
}

Operation *emit(KernelContext &c, Location loc, InstructionId id, ValueRange ins, ValueRange outs,
                llvm::ArrayRef<NamedAttribute> attributes) {
  return pto::emitInstruction(c.b, loc, id, ins, outs, attributes);
}

/// A window with gaps under another type with the same rows: a window of the same place in its buffer
/// under that element type. Null where rows differ.
static Value windowAs(KernelContext &c, Location loc, pto::SubsetOp window, pto::TileBufType type,
                      Value rows, Value cols) {
  pto::TileBufType from = window.getType(), buffer = window.getSource().getType();
  int64_t before = from.getElementType().getIntOrFloatBitWidth(),
          after = type.getElementType().getIntOrFloatBitWidth();
  std::optional<int64_t> col = getConstantIntValue(window.getCol());
  bool isWhole = before == after ||
                 (col && *col * before % after == 0 && buffer.getCols() * before % after == 0);
  if (!isWhole || from.getRows() != type.getRows() || from.getLayout() != type.getLayout())
    return {};
  int64_t width = buffer.getCols() * before / after;
  auto as =
      pto::TileBufType::get(c.b.getContext(), buffer.getPlace(), buffer.getRows(), width,
                            type.getElementType(), buffer.getRows(), width, buffer.getLayout());
  Value begin = before == after ? Value(window.getCol()) : constant(c, *col * before / after);
  Value whole = seenAs(c, loc, window.getSource(), as, {}, {});
  return c.b.create<pto::SubsetOp>(loc, type, whole, window.getRow(), begin, rows, cols);
}

Value seenAs(KernelContext &c, Location loc, Value buffer, pto::TileBufType type, Value rows,
             Value cols) {
  rows = type.getValidRows() == pto::kDynamic ? rows : Value();
  cols = type.getValidCols() == pto::kDynamic ? cols : Value();
  // An alias lies without gaps.
  if (pto::hasGaps(buffer))
    if (Value window = windowAs(c, loc, buffer.getDefiningOp<pto::SubsetOp>(), type, rows, cols))
      return window;
  return c.b.create<pto::TReshapeOp>(loc, type, buffer, rows, cols);
}

Value reshape(KernelContext &c, Value buffer, pto::TileBufType type, Value rows, Value cols) {
  return buffer.getType() == type ? buffer : seenAs(c, buffer.getLoc(), buffer, type, rows, cols);
}

Value columnView(KernelContext &c, const Tile &column) {
  return reshape(c, column.buffer,
                 tileType(c, ir::Place::Vec, "dn", column.extents, column.element),
                 column.extents.validRows, column.extents.validCols);
}

Value fullView(KernelContext &c, Value buffer) {
  auto type = cast<pto::TileBufType>(buffer.getType());
  return reshape(c, buffer, type.withValid(type.getRows(), type.getCols()), {}, {});
}

Tile materialise(KernelContext &c, const Tile &tile, Location loc) {
  if (tile.form == Tile::Form::Memory)
    return load(c, tile, loc);
  if (tile.form != Tile::Form::Splat)
    return tile;
  Tile filled = tile;
  filled.form = formOf(tile.extents);
  filled.buffer = allocateLike(c, filled, loc);
  fillWith(c, filled, tile.scalar, loc);
  return filled;
}

Tile expand(KernelContext &c, const Tile &tile, const Extents2 &extents, Location loc) {
  Tile source = tile;
  if (source.form == Tile::Form::Splat) {
    source.extents = extents;
    return materialise(c, source, loc);
  }
  // Nothing has to be repeated.
  if (source.extents.rows == extents.rows && source.extents.cols == extents.cols)
    return source;
  Tile whole = source;
  whole.extents = extents;
  whole.form = formOf(extents);
  whole.buffer = allocateLike(c, whole, loc);
  if (source.form == Tile::Form::Column || whole.form == Tile::Form::Column)
    emit(c, loc, InstructionId::TRowExpand, {columnView(c, source)}, {whole.buffer});
  else
    emit(c, loc, InstructionId::TColExpand, {source.buffer}, {whole.buffer});
  return whole;
}

} // namespace ptl::block
