// Operations whose positions are data.
#include "passes/lower_block/lower_positions.h"
#include "ir/dialect/op_facts.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- by the instruction that gathers ------------------------------------------------------------

static bool isByte(Type element) { return element.isInteger(8); }

namespace {
/// Builds tiles of positions, which count elements of the source in row-major order, padding included.
class Positions {
public:
  Positions(KernelContext &c, const Tile &to, Value validCols, Location loc)
      : c_(c), loc_(loc), type_(c.b.getI32Type()), rows_(to.extents.rows),
        validRows_(to.extents.validRows), cols_(to.extents.cols), validCols_(validCols) {}

  /// `0, 1, ...` in one row.
  Tile count(int64_t length, Value valid) {
    Tile row;
    row.element = type_;
    row.extents = {1, length, constant(c_, 1), valid};
    row.buffer = allocateLike(c_, row, loc_);
    emit(c_, loc_, InstructionId::TCi, {number(0)}, {row.buffer},
         {c_.b.getNamedAttr("descending", c_.b.getBoolAttr(false))});
    return row;
  }
  Tile columns() { return count(cols_, validCols_); }

  Tile rows() { return count(rows_, validRows_); }

  Tile times(const Tile &tile, int64_t factor) {
    return factor == 1 ? tile : with(InstructionId::TMuls, tile, number(factor));
  }
  Tile times(const Tile &tile, Value factor) {
    return with(InstructionId::TMuls, tile, asNumber(factor));
  }
  Tile plus(const Tile &tile, Value length) {
    return with(InstructionId::TAdds, tile, asNumber(length));
  }
  Tile sum(const Tile &a, const Tile &b) { return with(InstructionId::TAdd, a, b.buffer); }

  /// Quotients by a length. In `f32`, which is exact here: with half of one added a number below
  /// 2^21 stays farther from the next quotient than two roundings carry it, and no memory of a
  /// core holds so many elements.
  Tile quotients(const Tile &numbers, Value length) {
    Type f32 = c_.b.getF32Type();
    Tile floats = converted(numbers, f32, pto::RoundMode::RINT);
    floats = with(InstructionId::TAdds, floats, constantOf(c_, f32, 0.5));
    Value divisor = c_.b.createOrFold<arith::SIToFPOp>(loc_, f32, asNumber(length));
    Value inverse = c_.b.createOrFold<arith::DivFOp>(loc_, constantOf(c_, f32, 1), divisor);
    return converted(with(InstructionId::TMuls, floats, inverse), type_, pto::RoundMode::FLOOR);
  }

  /// Machines lack the maximum of a tile of integers and a scalar.
  Tile notNegative(const Tile &tile) {
    Tile zeros = like(tile), result = like(tile);
    fillWith(c_, zeros, number(0), loc_);
    emit(c_, loc_, InstructionId::TMax, {tile.buffer, zeros.buffer}, {result.buffer});
    return result;
  }

  /// A row for each row of the result.
  Tile repeated(const Tile &row) {
    Tile all = row;
    all.extents = {rows_, row.extents.cols, validRows_, row.extents.validCols};
    if (rows_ == 1)
      return row;
    all.buffer = allocateLike(c_, all, loc_);
    emit(c_, loc_, InstructionId::TColExpand, {row.buffer}, {all.buffer});
    return all;
  }

  /// Columns of rows as positions in the whole tile.
  Tile inRows(const Tile &columns, const Tile &from) {
    if (rows_ == 1)
      return columns;
    return sumOfEach(times(rows(), pitchOf(from)), columns);
  }

  /// The sum of a number of each row and one of each element.
  Tile sumOfEach(Tile ofRows, const Tile &elements) {
    // The numbers were counted in a row; the instruction that adds one to each row wants a column
    // of them, which has the same bytes.
    ofRows.form = Form::Column;
    std::swap(ofRows.extents.rows, ofRows.extents.cols);
    std::swap(ofRows.extents.validRows, ofRows.extents.validCols);
    Tile result = like(elements);
    emit(c_, loc_, InstructionId::TRowExpandAdd, {elements.buffer, columnView(c_, ofRows)},
         {result.buffer});
    return result;
  }

  /// Rows of columns as positions in the whole tile.
  Tile inColumns(const Tile &rows, const Tile &from) {
    Tile scaled = times(rows, pitchOf(from)), result = like(rows);
    emit(c_, loc_, InstructionId::TColExpandAdd, {scaled.buffer, columns().buffer},
         {result.buffer});
    return result;
  }

  /// A tile whose elements the instruction takes: bytes become `f16`, which holds them all. Positions
  /// count in this one.
  Tile source(const Tile &from) {
    return isByte(from.element) ? converted(from, c_.b.getF16Type(), pto::RoundMode::RINT) : from;
  }

  /// Fills `into`, a buffer or window for `to`, from a `source`.
  void gather(const Tile &from, const Tile &positions, const Tile &to, Value into) {
    if (isByte(to.element))
      return gatherBytes(from, positions, to, into);
    auto elements = [&](const Tile &tile, Value buffer) {
      Tile viewed = tile;
      viewed.buffer = buffer;
      // A gather moves bits, so a type that the instruction lacks goes as integers of its width.
      bool direct = takes(c_, InstructionId::TGather, {tile.element, type_});
      return direct ? buffer : sameWidth(c_, viewed, c_.b.getI16Type());
    };
    emit(c_, loc_, InstructionId::TGather,
         {elements(from, from.buffer), positions.buffer, allocateLike(c_, positions, loc_)},
         {elements(to, into)});
  }

  static int64_t pitchOf(const Tile &tile) {
    return cast<pto::TileBufType>(tile.buffer.getType()).getCols();
  }

private:
  /// Gathers bytes as `f16`, since the instruction has no form for bytes, and converts the result back.
  void gatherBytes(const Tile &from, const Tile &positions, const Tile &to, Value into) {
    Type f16 = c_.b.getF16Type();
    Tile result = to;
    result.element = f16;
    result.buffer = allocateLike(c_, result, loc_);
    gather(from, positions, result, result.buffer);
    emit(c_, loc_, InstructionId::TCvt, {result.buffer}, {into},
         {rounding(pto::RoundMode::RINT),
          c_.b.getNamedAttr("sat_mode", pto::SaturationModeAttr::get(c_.b.getContext(),
                                                                     pto::SaturationMode::ON))});
  }
  NamedAttribute rounding(pto::RoundMode mode) {
    return c_.b.getNamedAttr("rmode", pto::RoundModeAttr::get(c_.b.getContext(), mode));
  }
  Value asNumber(Value length) {
    return c_.b.createOrFold<arith::IndexCastOp>(loc_, type_, length);
  }
  Tile converted(const Tile &tile, Type element, pto::RoundMode mode) {
    Tile result = tile;
    result.element = element;
    result.buffer = allocateLike(c_, result, loc_);
    emit(c_, loc_, InstructionId::TCvt, {tile.buffer}, {result.buffer}, {rounding(mode)});
    return result;
  }
  Value number(int64_t value) { return constantOf(c_, type_, static_cast<double>(value)); }
  Tile like(const Tile &tile) {
    Tile result = tile;
    result.buffer = allocateLike(c_, tile, loc_);
    return result;
  }
  Tile with(InstructionId id, const Tile &tile, Value scalar) {
    Tile result = like(tile);
    emit(c_, loc_, id, {tile.buffer, scalar}, {result.buffer});
    return result;
  }

  KernelContext &c_;
  Location loc_;
  Type type_;
  int64_t rows_;
  Value validRows_;
  int64_t cols_;
  Value validCols_;
};
} // namespace

/// Whether tiles of this element type can be gathered by positions, directly or as words of the same width.
static bool canGather(KernelContext &c, Type element) {
  Type i32 = c.b.getI32Type();
  bool arithmetic =
      llvm::all_of(llvm::ArrayRef{InstructionId::TMuls, InstructionId::TAdds, InstructionId::TMax,
                                  InstructionId::TRowExpandAdd, InstructionId::TColExpandAdd},
                   [&](InstructionId id) { return takes(c, id, {i32}); });
  if (isByte(element))
    return arithmetic && takes(c, InstructionId::TCvt, {element, c.b.getF16Type()}) &&
           takes(c, InstructionId::TCvt, {c.b.getF16Type(), element}) &&
           takes(c, InstructionId::TGather, {c.b.getF16Type(), i32});
  Type word = element.getIntOrFloatBitWidth() == 16 ? c.b.getI16Type() : element;
  return arithmetic && (takes(c, InstructionId::TGather, {element, i32}) ||
                        takes(c, InstructionId::TGather, {word, i32}));
}

static bool areWhole(llvm::ArrayRef<const ShapedTile *> tiles) {
  return llvm::all_of(tiles, [](const ShapedTile *tile) {
    return tile->tile.form == Form::Whole && !tile->lengths.empty();
  });
}

bool gatherColumns(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                   const ColumnMove &move, Location loc) {
  const Tile &target = to.tile;
  if (!areWhole({&from, &to}) || !canGather(c, target.element) ||
      from.tile.extents.rows != target.extents.rows)
    return false;
  bool hasHead = !matchPattern(move.to, m_Zero());
  // A move of tiles copies whole blocks, and so overwrites what stands behind the head in its last
  // one; an addition of 0 to words writes nothing beside them.
  Type word = c.b.getI16Type();
  int64_t bytes = pto::elementBytes(target.element);
  if (hasHead && (bytes % 2 != 0 || !takes(c, InstructionId::TAdds, {word})))
    return false;
  c.loc = loc;
  Value end = plus(c, move.to, move.length);
  auto head = [&](Value buffer) {
    Value words = wordsOf(c, buffer, word);
    auto type = cast<pto::TileBufType>(words.getType());
    return window(c, words, constant(c, 0), constant(c, 0), type.getRows(), type.getCols(),
                  target.extents.validRows, times(c, move.to, constant(c, bytes / 2)));
  };
  auto moveHead = [&](Value from, Value to) {
    emit(c, loc, InstructionId::TAdds, {head(from), constantOf(c, word, 0)}, {head(to)});
  };
  // The instruction fills rows from their begin, so what stands there is put aside.
  Tile aside = target;
  if (hasHead) {
    aside.buffer = allocateLike(c, aside, loc);
    moveHead(target.buffer, aside.buffer);
  }
  Positions positions(c, target, end, loc);
  Tile source = positions.source(from.tile);
  // The instruction fills whole rows, so positions are counted back to what column 0 would have.
  Value first =
      c.b.createOrFold<arith::SubIOp>(loc, move.from, times(c, move.to, constant(c, move.step)));
  Tile columns = positions.times(positions.columns(), move.step);
  if (!matchPattern(first, m_Zero()))
    columns = positions.plus(columns, first);
  // The columns of the head would count back to positions before the source. What is gathered for them is overwritten by the head that was
  // put aside, so any valid position will do.
  if (hasHead)
    columns = positions.notNegative(columns);
  auto type = cast<pto::TileBufType>(target.buffer.getType());
  Value into = window(c, target.buffer, constant(c, 0), constant(c, 0), type.getRows(),
                      type.getCols(), target.extents.validRows, end);
  Tile part = target;
  part.extents.validCols = end;
  positions.gather(source, positions.inRows(positions.repeated(columns), source), part, into);
  if (hasHead)
    moveHead(aside.buffer, target.buffer);
  return true;
}

/// Positions as signed words, which the arithmetic on positions takes: they are all less than 2^31.
static Tile signedPositions(KernelContext &c, const Tile &positions, Location loc) {
  c.loc = loc;
  Tile result = positions;
  result.buffer = sameWidth(c, positions, c.b.getI32Type());
  result.element = c.b.getI32Type();
  return result;
}

bool gatherEach(KernelContext &c, const ShapedTile &from, const ShapedTile &index,
                const ShapedTile &to, bool alongRows, Location loc) {
  // Along rows, the tile is one matrix whose rows are counted.
  bool fits = alongRows ? to.lengths.size() == 2 && from.lengths.size() == 2
                        : from.tile.extents.rows == to.tile.extents.rows;
  if (!fits || !areWhole({&from, &index, &to}) || !index.tile.element.isInteger(32) ||
      !canGather(c, to.tile.element))
    return false;
  Positions positions(c, to.tile, to.tile.extents.validCols, loc);
  Tile source = positions.source(from.tile);
  Tile given = signedPositions(c, index.tile, loc);
  Tile at = alongRows ? positions.inColumns(given, source) : positions.inRows(given, source);
  positions.gather(source, at, to.tile, to.tile.buffer);
  return true;
}

bool gatherListed(KernelContext &c, const ShapedTile &from, const ShapedTile &index,
                  const ShapedTile &to, Location loc) {
  if (!areWhole({&from, &index, &to}) || index.tile.extents.rows != 1 ||
      from.tile.extents.rows != to.tile.extents.rows || !index.tile.element.isInteger(32) ||
      !canGather(c, to.tile.element))
    return false;
  Positions positions(c, to.tile, to.tile.extents.validCols, loc);
  Tile source = positions.source(from.tile);
  Tile at = positions.inRows(positions.repeated(signedPositions(c, index.tile, loc)), source);
  positions.gather(source, at, to.tile, to.tile.buffer);
  return true;
}

bool gathersFirst(KernelContext &c, Type element) { return canGather(c, element); }

void gatherFirst(KernelContext &c, const Tile &from, const Tile &to, Location loc) {
  Positions positions(c, to, to.extents.validCols, loc);
  Tile source = positions.source(from);
  // The first elements of rows lie one pitch apart.
  Tile at = positions.times(positions.columns(), Positions::pitchOf(source));
  positions.gather(source, at, to, to.buffer);
}

/// The same for shapes, whose elements are counted through all axes.
static bool canGatherShapes(KernelContext &c, const ShapedTile &from, const ShapedTile &to) {
  Type i32 = c.b.getI32Type(), f32 = c.b.getF32Type();
  return areWhole({&from, &to}) && canGather(c, to.tile.element) &&
         takes(c, InstructionId::TCvt, {i32, f32}) && takes(c, InstructionId::TCvt, {f32, i32});
}

bool gatherPermuted(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                    llvm::ArrayRef<int64_t> axes, Location loc) {
  size_t rank = axes.size();
  if (rank < 2 || !canGatherShapes(c, from, to))
    return false;
  c.loc = loc;
  Positions positions(c, to.tile, to.tile.extents.validCols, loc);
  Tile source = positions.source(from.tile);
  // Elements from one position along an axis of the source to the next one.
  IndexVector strides(rank, constant(c, 1));
  // Rows lie as far apart as the buffer is wide, padding included, so this is no product of
  // lengths.
  strides[rank - 2] = constant(c, Positions::pitchOf(source));
  for (size_t axis = rank - 2; axis-- > 0;)
    strides[axis] = times(c, strides[axis + 1], from.lengths[axis + 1]);
  auto stride = [&](size_t axis) { return strides[static_cast<size_t>(axes[axis])]; };
  Tile numbers = positions.rows(), starts = positions.times(numbers, stride(rank - 2));
  // A row counts through the leading axes: a step along one of them takes back all steps of the
  // next one.
  for (size_t axis = rank - 2; axis > 0; --axis) {
    numbers = positions.quotients(numbers, to.lengths[axis]);
    Value back = times(c, to.lengths[axis], stride(axis));
    Value step = c.b.createOrFold<arith::SubIOp>(loc, stride(axis - 1), back);
    starts = positions.sum(starts, positions.times(numbers, step));
  }
  Tile columns = positions.repeated(positions.times(positions.columns(), stride(rank - 1)));
  Tile at = to.tile.extents.rows == 1 ? columns : positions.sumOfEach(starts, columns);
  positions.gather(source, at, to.tile, to.tile.buffer);
  return true;
}

bool gatherReshaped(KernelContext &c, const ShapedTile &from, const ShapedTile &to, Location loc) {
  if (!canGatherShapes(c, from, to))
    return false;
  c.loc = loc;
  Positions positions(c, to.tile, to.tile.extents.validCols, loc);
  Tile source = positions.source(from.tile);
  Tile at = positions.repeated(positions.columns());
  if (to.tile.extents.rows != 1)
    at = positions.sumOfEach(positions.times(positions.rows(), to.lengths.back()), at);
  Value pitch = constant(c, Positions::pitchOf(source)), length = from.lengths.back();
  Value padding = c.b.createOrFold<arith::SubIOp>(loc, pitch, length);
  // Each row of the source that a position has gone past adds the padding behind that row.
  if (from.tile.extents.rows != 1 && !matchPattern(padding, m_Zero()))
    at = positions.sum(at, positions.times(positions.quotients(at, length), padding));
  positions.gather(source, at, to.tile, to.tile.buffer);
  return true;
}

// ---- operations ---------------------------------------------------------------------------------

namespace {
/// The tiles of a look-up: where it reads, at which positions along one axis, and what it fills.
struct LookUp {
  ShapedTile from, index, to;
  Location loc;
};
} // namespace

/// The tiles of an operation that looks up elements of `source`, the source in a buffer. Nothing
/// after an error.
static std::optional<LookUp> lookUpTiles(KernelContext &c, Operation *op, Value source,
                                         Value positions) {
  std::optional<ShapedTile> from = sourceOf(c, op, source), index = sourceOf(c, op, positions);
  std::optional<ShapedTile> to = from && index ? newResult(c, op) : std::nullopt;
  if (!to)
    return std::nullopt;
  // Positions count elements of a buffer, so a tile that is only described gets one.
  from->tile = materialise(c, from->tile, op->getLoc());
  return LookUp{*from, *index, *to, op->getLoc()};
}

/// Fills the result from the elements whose position along `axis` is `positionAt` of where they go.
static void moveLookedUp(KernelContext &c, const LookUp &tiles, size_t axis, bool inRows,
                         llvm::function_ref<Value(Indices)> positionAt) {
  Movement movement;
  movement.lengths = IndexVector(tiles.to.lengths);
  movement.inRows = inRows;
  movement.ends = [&](Indices at) {
    IndexVector in(at.begin(), at.end());
    in[axis] = asPosition(c, positionAt(at));
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  move(c, tiles.from, tiles.to, movement, tiles.loc);
}

void lowerTake(KernelContext &c, Operation *op) {
  auto take = cast<ir::TakeOp>(op);
  auto axis = static_cast<size_t>(take.getAxis());
  Operation *box = take.getSource().getDefiningOp();
  // What is only a box of memory is looked up there, and need not be loaded whole.
  bool boxed = box && isa<ir::SliceOp, ir::LoadOp>(box) && !tileOf(c, take.getSource()) &&
               c.pointers.count(box->getOperand(0));
  if (boxed || c.pointers.count(take.getSource()))
    return takeGlobal(c, op, boxed ? box : nullptr);
  std::optional<LookUp> tiles = lookUpTiles(c, op, take.getSource(), take.getIndex());
  if (!tiles)
    return;
  const auto &[from, index, to, loc] = *tiles;
  bool isLast = axis + 1 == to.lengths.size();
  if (isLast && gatherListed(c, from, index, to, loc))
    return;
  bool inRows = !isLast && from.tile.form == Form::Whole && to.tile.form == Form::Whole;
  moveLookedUp(c, *tiles, axis, inRows,
               [&](Indices at) { return readElement(c, tiles->index, {at[axis]}); });
}

/// One position per element.
void lowerGather(KernelContext &c, Operation *op) {
  auto gather = cast<ir::GatherOp>(op);
  auto axis = static_cast<size_t>(gather.getAxis());
  std::optional<LookUp> tiles = lookUpTiles(c, op, gather.getX(), gather.getIdx());
  if (!tiles)
    return;
  bool alongRows = axis == 0 && tiles->to.lengths.size() == 2;
  if ((alongRows || axis + 1 == tiles->to.lengths.size()) &&
      gatherEach(c, tiles->from, tiles->index, tiles->to, alongRows, tiles->loc))
    return;
  moveLookedUp(c, *tiles, axis, /*inRows=*/false,
               [&](Indices at) { return readElement(c, tiles->index, at); });
}

void lowerScatter(KernelContext &c, Operation *op) {
  auto scatter = cast<ir::ScatterOp>(op);
  auto axis = static_cast<size_t>(scatter.getAxis());
  Location loc = op->getLoc();
  std::optional<ShapedTile> start = sourceOf(c, op, scatter.getX()),
                            index = sourceOf(c, op, scatter.getIdx()),
                            from = sourceOf(c, op, scatter.getV());
  if (!start || !index || !from)
    return;
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  out->buffer = destination(c, op, *out, {scatter.getXMutable().getOperandNumber()});
  // The result begins as the operand, of which a tile that is the same number everywhere has no
  // buffer to copy.
  if (start->tile.form == Form::Splat)
    fillWith(c, *out, start->tile.scalar, loc);
  else if (start->tile.buffer != out->buffer)
    copy(c, start->tile, *out, loc);
  setTile(c, op->getResult(0), *out);
  ShapedTile to = shaped(c, *out, op->getResult(0).getType());
  std::optional<OpId> combiner = ir::combinerNamed(scatter.getCombine());
  c.loc = loc;
  // In the order of the positions: the last of equal ones counts.
  forEach(c, from->lengths, [&](Indices at) {
    IndexVector target(at.begin(), at.end());
    target[axis] = asPosition(c, readElement(c, *index, at));
    Value value = readElement(c, *from, at);
    if (combiner)
      value = combineScalars(c.b, c.loc, *combiner, readElement(c, to, target), value);
    writeElement(c, to, target, value);
  });
}

} // namespace ptl::block
