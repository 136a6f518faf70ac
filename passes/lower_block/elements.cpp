// Moves elements where no instruction works on whole tiles: rows by windows, and single elements by
// the scalar unit.
#include "passes/lower_block/elements.h"
#include "passes/analysis/machine_types.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static void moveRows(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                     const Movement &movement, bool whole);
static bool moveBlock(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                      const Movement &movement, bool whole);
static bool addsZero(KernelContext &c, Type element);

// ---- positions ----------------------------------------------------------------------------------
ShapedTile shaped(KernelContext &c, const Tile &tile, Type type) {
  ShapedTile result{tile, {}};
  for (const ir::Extent &extent : ir::extentsOf(type))
    result.lengths.push_back(lengthOf(c, extent));
  return result;
}

Value plus(KernelContext &c, Value a, Value b) {
  return c.b.createOrFold<arith::AddIOp>(c.loc, a, b);
}

Value times(KernelContext &c, Value a, Value b) {
  // Folding by hand keeps the code of generated kernels short.
  if (matchPattern(a, m_Zero()) || matchPattern(b, m_One()))
    return a;
  if (matchPattern(b, m_Zero()) || matchPattern(a, m_One()))
    return b;
  return c.b.createOrFold<arith::MulIOp>(c.loc, a, b);
}

Value asPosition(KernelContext &c, Value scalar) {
  Type type = scalar.getType();
  if (type.isIndex())
    return scalar;
  if (!type.isUnsignedInteger())
    return c.b.createOrFold<arith::IndexCastOp>(c.loc, c.b.getIndexType(), scalar);
  // MLIR's casts take integers without a sign.
  Type word = c.b.getIntegerType(type.getIntOrFloatBitWidth());
  Value plain = c.b.create<UnrealizedConversionCastOp>(c.loc, word, scalar).getResult(0);
  return c.b.createOrFold<arith::IndexCastUIOp>(c.loc, c.b.getIndexType(), plain);
}

Value rowAt(KernelContext &c, const ShapedTile &shape, Indices at) {
  Value row = constant(c, 0);
  for (size_t axis = 0; axis + 1 < at.size(); ++axis)
    row = plus(c, times(c, row, shape.lengths[axis]), at[axis]);
  return row;
}

static Value elementOf(KernelContext &c, const ShapedTile &shape, Indices at) {
  if (at.empty())
    return constant(c, 0);
  Value row = rowAt(c, shape, at);
  if (shape.tile.form == Form::Column)
    return row;
  auto type = cast<pto::TileBufType>(shape.tile.buffer.getType());
  // Rows lie as far apart as the buffer is wide, padding included.
  return plus(c, times(c, row, constant(c, type.getCols())), at.back());
}

void forEach(KernelContext &c, Indices lengths, llvm::function_ref<void(Indices)> body) {
  OpBuilder::InsertionGuard guard(c.b);
  IndexVector at;
  for (Value length : lengths) {
    // A loop of one round would only be noise in the kernel's text.
    if (matchPattern(length, m_One())) {
      at.push_back(constant(c, 0));
      continue;
    }
    // The location of an operation may carry the name of its value, which is not that of the loop's
    // variable.
    auto loop = c.b.create<scf::ForOp>(withoutName(c.loc), constant(c, 0), length, constant(c, 1));
    at.push_back(loop.getInductionVar());
    c.b.setInsertionPointToStart(loop.getBody());
  }
  body(at);
}

void branch(OpBuilder &b, Location loc, Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise) {
  OpBuilder::InsertionGuard guard(b);
  auto branch = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/bool(otherwise));
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  otherwise();
}

// ---- elements -----------------------------------------------------------------------------------

Value readElement(KernelContext &c, const ShapedTile &shape, Indices at) {
  if (shape.tile.form == Form::Splat)
    return shape.tile.scalar;
  return c.b.create<pto::TGetValOp>(c.loc, shape.tile.element, shape.tile.buffer,
                                    elementOf(c, shape, at));
}

void writeElement(KernelContext &c, const ShapedTile &shape, Indices at, Value value) {
  emit(c, c.loc, InstructionId::TSetVal, {elementOf(c, shape, at), value}, {shape.tile.buffer});
}

// ---- rows ---------------------------------------------------------------------------------------

Value window(KernelContext &c, Value buffer, Value row, Value col, int64_t rows, int64_t cols,
             Value validRows, Value validCols) {
  auto whole = cast<pto::TileBufType>(buffer.getType());
  auto valid = [](Value length) {
    IntegerAttr number;
    return matchPattern(length, m_Constant(&number)) ? number.getInt() : pto::kDynamic;
  };
  auto type =
      pto::TileBufType::get(c.b.getContext(), whole.getPlace(), rows, cols, whole.getElementType(),
                            valid(validRows), valid(validCols), whole.getLayout());
  return c.b.create<pto::SubsetOp>(c.loc, type, buffer, row, col,
                                   type.getValidRows() == pto::kDynamic ? validRows : Value(),
                                   type.getValidCols() == pto::kDynamic ? validCols : Value());
}

/// The largest that a position can be, if it is a multiple of `unit`: a number, what a loop with known bounds counts, or a sum of such.
static std::optional<int64_t> largestOf(Value position, int64_t unit) {
  auto known = [&](Value value) -> std::optional<int64_t> {
    std::optional<int64_t> number = getConstantIntValue(value);
    return number && *number >= 0 && *number % unit == 0 ? number : std::nullopt;
  };
  if (std::optional<int64_t> number = known(position))
    return number;
  if (auto sum = position.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> a = largestOf(sum.getLhs(), unit), b = largestOf(sum.getRhs(), unit);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(position);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  // Carried values of a loop may be anything; only its own variable has known bounds.
  if (!loop || loop.getInductionVar() != position)
    return std::nullopt;
  std::optional<int64_t> lower = known(loop.getLowerBound()), step = known(loop.getStep()),
                         upper = getConstantIntValue(loop.getUpperBound());
  if (!lower || !step || *step == 0 || !upper || *upper <= *lower)
    return std::nullopt;
  // The last value is the largest multiple of the step below the end, not the end itself.
  return *lower + (*upper - 1 - *lower) / *step * *step;
}

/// Parts of rows that begin at whole blocks may be windows.
bool movesInRows(const KernelContext &c, const ShapedTile &shape, Value firstCol,
                 const ShapedTile &other) {
  if (shape.tile.form != Form::Whole)
    return false;
  int64_t bytes = pto::elementBytes(shape.tile.element), block = c.machine.limits.blockBytes;
  if (std::optional<int64_t> first = getConstantIntValue(firstCol))
    return *first * bytes % block == 0;
  // Windows of one width at several columns end inside of the buffer at the last of them.
  auto colsOf = [](const ShapedTile &of) {
    return cast<pto::TileBufType>(of.tile.buffer.getType()).getCols();
  };
  std::optional<int64_t> last =
      block % bytes == 0 ? largestOf(firstCol, block / bytes) : std::nullopt;
  return last && other.tile.form == Form::Whole && *last + colsOf(other) <= colsOf(shape);
}

bool takes(const Machine &machine, InstructionId id, llvm::ArrayRef<Type> types) {
  // The machine's tables know types by name.
  std::vector<std::string> names;
  for (Type type : types)
    names.push_back(ir::machineTypeName(type));
  std::vector<std::string_view> views(names.begin(), names.end());
  return machine.supports(instructionInfo(id).mnemonic, views);
}

/// One instruction, for `rows` rows from this one on.
static void takeRows(KernelContext &c, const EverySecond &take, Value row, int64_t capacity,
                     Value rows) {
  auto colsOf = [](Value buffer) { return cast<pto::TileBufType>(buffer.getType()).getCols(); };
  auto rowsOf = [&](Value buffer, Value first, Value length) {
    Value part = window(c, buffer, plus(c, first, row), constant(c, 0), capacity, colsOf(buffer),
                        rows, length);
    bool isWhole = part.getType() == buffer.getType() &&
                   !cast<pto::TileBufType>(part.getType()).hasDynamicValid();
    return isWhole ? buffer : part;
  };
  Value part = rowsOf(take.from, take.fromRow, take.span),
        result = rowsOf(take.to, take.toRow, constant(c, colsOf(take.to)));
  // The patterns take the first or the second element of each pair.
  auto pattern = take.fromSecond ? pto::MaskPattern::P1010 : pto::MaskPattern::P0101;
  emit(c, c.loc, InstructionId::TGatherMask, {part}, {result},
       {c.b.getNamedAttr("maskPattern", pto::MaskPatternAttr::get(c.b.getContext(), pattern))});
}

// The instruction writes what it takes without gaps, whatever the rows of the result are. So it
// handles several rows if each of them gets as many elements as the buffer has columns.
void takeEverySecond(KernelContext &c, const EverySecond &take) {
  int64_t cols = cast<pto::TileBufType>(take.to.getType()).getCols();
  auto together = [&] { takeRows(c, take, constant(c, 0), take.capacity, take.rows); };
  auto rowByRow = [&] {
    forEach(c, {take.rows}, [&](Indices at) { takeRows(c, take, at[0], 1, constant(c, 1)); });
  };
  // Of rows that are filled the rest is taken, too, so that the next one begins where it should.
  auto withRest = [&] {
    EverySecond whole = take;
    whole.span = constant(c, cast<pto::TileBufType>(take.from.getType()).getCols());
    takeRows(c, whole, constant(c, 0), take.capacity, take.rows);
  };
  auto otherwise = [&] { take.isFilled ? withRest() : rowByRow(); };
  // In a single row there is no next one that could begin in the wrong place.
  if (take.capacity == 1)
    return together();
  if (std::optional<int64_t> count = getConstantIntValue(take.count))
    return *count == cols ? together() : otherwise();
  Value fills = c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::eq, take.count,
                                                constant(c, cols));
  branch(c.b, c.loc, fills, together, otherwise);
}

bool takesEverySecond(const KernelContext &c, const ShapedTile &to) {
  return to.tile.form == Form::Whole && takes(c, InstructionId::TGatherMask, {to.tile.element});
}

Value spanOfEverySecond(KernelContext &c, Value count) {
  Value behind = times(c, count, constant(c, 2));
  Value span = c.b.createOrFold<arith::SubIOp>(c.loc, behind, constant(c, 1));
  return c.b.createOrFold<arith::MaxSIOp>(c.loc, span, constant(c, 0));
}

static void whenInside(KernelContext &c, const Movement &movement, Indices at,
                       llvm::function_ref<void()> body) {
  if (!movement.isInside)
    return body();
  // What comes next stands behind the branch.
  OpBuilder::InsertionGuard guard(c.b);
  auto branch = c.b.create<scf::IfOp>(c.loc, movement.isInside(at), /*withElseRegion=*/false);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

/// Whether the parts of rows end with a block or with the row. Chips move whole blocks, and so
/// overwrite what stands behind a part in the last of them.
static bool endsWithBlock(const KernelContext &c, const ShapedTile &to, const Movement &movement) {
  Value length = movement.lengths.back(), whole = to.lengths.back();
  std::optional<int64_t> count = getConstantIntValue(length);
  return length == whole || (count && count == getConstantIntValue(whole)) ||
         (count && *count * pto::elementBytes(to.tile.element) % c.machine.limits.blockBytes == 0);
}

void move(KernelContext &c, const ShapedTile &from, const ShapedTile &to, const Movement &movement,
          Location loc) {
  c.loc = loc;
  bool whole = endsWithBlock(c, to, movement),
       inRows = movement.inRows && (whole || addsZero(c, to.tile.element));
  // Rows that all move by the same number are one block, and one instruction.
  if (inRows && movement.shift && moveBlock(c, from, to, movement, whole))
    return;
  if (inRows)
    return moveRows(c, from, to, movement, whole);
  forEach(c, movement.lengths, [&](Indices at) {
    whenInside(c, movement, at, [&] {
      Ends ends = movement.ends(at);
      writeElement(c, to, ends.to, readElement(c, from, ends.from));
    });
  });
}

namespace {
/// Both ends of a move in elements that have moves.
struct Words {
  Value source, target;
  int64_t perElement;
  bool whole; ///< blocks; otherwise just the elements
};
} // namespace

/// Whether elements can be moved by an addition of 0 to words, which writes nothing beside them.
static bool addsZero(KernelContext &c, Type element) {
  return pto::elementBytes(element) % 2 == 0 && takes(c, InstructionId::TAdds, {c.b.getI16Type()});
}

/// Moving bytes needs no arithmetic, so a type without moves goes as words.
static Words wordsFor(KernelContext &c, const ShapedTile &from, const ShapedTile &to, bool whole) {
  bool direct = takes(c, InstructionId::TMov, {to.tile.element});
  Type word = !whole ? Type(c.b.getI16Type()) : direct ? to.tile.element : Type(c.b.getI32Type());
  return {wordsOf(c, from.tile.buffer, word), wordsOf(c, to.tile.buffer, word),
          pto::elementBytes(to.tile.element) / pto::elementBytes(word), whole};
}

static void moveWords(KernelContext &c, const Words &words, Value source, Value target) {
  if (words.whole)
    emit(c, c.loc, InstructionId::TMov, {source}, {target});
  else
    emit(c, c.loc, InstructionId::TAdds, {source, constantOf(c, c.b.getI16Type(), 0)}, {target});
}

/// All rows that are inside at once; false where the rows of the buffers differ in width.
static bool moveBlock(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                      const Movement &movement, bool whole) {
  Words words = wordsFor(c, from, to, whole);
  auto source = cast<pto::TileBufType>(words.source.getType()),
       target = cast<pto::TileBufType>(words.target.getType());
  // Row n of the target comes from row n + shift. With a negative shift the first rows of the target have no source row, so the move starts
  // behind them.
  int64_t first = std::max<int64_t>(*movement.shift, 0), start = first - *movement.shift;
  int64_t rows = std::min(source.getRows() - first, target.getRows() - start);
  // A window of several rows has one distance between them, which both sides have to share.
  if (source.getCols() != target.getCols())
    return false;
  if (rows <= 0)
    return true; // none is inside
  // Rows that have no counterpart are left out by the number of valid rows, so one window is enough.
  auto behind = [&](Value length, int64_t count) {
    return c.b.createOrFold<arith::SubIOp>(c.loc, length, constant(c, count));
  };
  // How many rows there are may be known at run time only, and a negative number means none.
  Value count = behind(movement.lengths[0], start);
  if (movement.isInside)
    count = minimum(c, count, behind(from.lengths[0], first));
  Value cols = times(c, movement.lengths[1], constant(c, words.perElement));
  OpBuilder::InsertionGuard guard(c.b);
  if (IntegerAttr known; !matchPattern(count, m_Constant(&known)) || known.getInt() <= 0) {
    Value some =
        c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sgt, count, constant(c, 0));
    auto branch = c.b.create<scf::IfOp>(c.loc, some, /*withElseRegion=*/false);
    c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  auto part = [&](Value buffer, int64_t row) {
    return window(c, buffer, constant(c, row), constant(c, 0), rows, source.getCols(), count, cols);
  };
  moveWords(c, words, part(words.source, first), part(words.target, start));
  return true;
}

bool moveToCorner(KernelContext &c, const ShapedTile &from, const ShapedTile &to, Location loc) {
  if (!movesInRows(c, from, constant(c, 0), to) || to.tile.form != Form::Whole ||
      !addsZero(c, to.tile.element))
    return false;
  Movement movement;
  for (size_t axis : {0, 1})
    movement.lengths.push_back(minimum(c, from.lengths[axis], to.lengths[axis]));
  movement.ends = [](Indices at) {
    return Ends{IndexVector(at.begin(), at.end()), IndexVector(at.begin(), at.end())};
  };
  movement.inRows = true;
  movement.shift = 0;
  Value cols = movement.lengths[1];
  std::optional<int64_t> known = getConstantIntValue(cols);
  // There is nothing to move, and instructions without columns do not exist.
  if (known == 0)
    return true;
  OpBuilder::InsertionGuard guard(c.b);
  if (!known) { // no instruction works on a part without columns
    Value some =
        c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, cols, constant(c, 0));
    auto branch = c.b.create<scf::IfOp>(loc, some, /*withElseRegion=*/false);
    c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  move(c, from, to, movement, loc);
  return true;
}

/// Row by row.
static void moveRows(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                     const Movement &movement, bool whole) {
  const Words words = wordsFor(c, from, to, whole);
  Value source = words.source, target = words.target;
  int64_t perElement = words.perElement;
  Value length = times(c, movement.lengths.back(), constant(c, perElement));
  auto colsOf = [](Value buffer) { return cast<pto::TileBufType>(buffer.getType()).getCols(); };
  forEach(c, Indices(movement.lengths).drop_back(), [&](Indices outer) {
    IndexVector at(outer.begin(), outer.end());
    at.push_back(constant(c, 0));
    whenInside(c, movement, at, [&] {
      Ends ends = movement.ends(at);
      auto firstCol = [&](Indices first) {
        return largestOf(first.back(), 1).value_or(0) * perElement;
      };
      // The window must not be wider than either buffer from its column on.
      int64_t cols =
          std::min(colsOf(source) - firstCol(ends.from), colsOf(target) - firstCol(ends.to));
      auto rowWindow = [&](const ShapedTile &shape, Value buffer, Indices first) {
        return window(c, buffer, rowAt(c, shape, first),
                      times(c, first.back(), constant(c, perElement)), 1, cols, constant(c, 1),
                      length);
      };
      moveWords(c, words, rowWindow(from, source, ends.from), rowWindow(to, target, ends.to));
    });
  });
}

} // namespace ptl::block
