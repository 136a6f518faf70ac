// Integers of 64 bits, which no vector instruction takes, as pairs of words: all words are added or shifted at once, and what
// leaves a word goes into the other one of its pair.
#include "passes/lower_block/lower_wide.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/tiles.h"
#include "passes/transform/legalize/legalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

namespace {
/// Tiles of words, two for each element.
class Words {
public:
  Words(KernelContext &c, const Tile &wide, Location loc)
      : c_(c), loc_(loc), word_(c.b.getI32Type()), extents_(storage(c, wide).first) {
    extents_.cols *= 2;
    extents_.validCols = times(c, extents_.validCols, constant(c, 2));
  }

  Tile of(const Tile &wide) { return at(wordsOf(c_, wide.buffer, word_)); }
  Tile make() {
    Tile made = at({});
    made.buffer = allocateLike(c_, made, loc_);
    return made;
  }
  void combine(InstructionId id, const Tile &a, const Tile &b, const Tile &into) {
    emit(c_, loc_, id, {a.buffer, b.buffer}, {into.buffer});
  }
  Tile combined(InstructionId id, const Tile &a, const Tile &b) {
    Tile made = make();
    combine(id, a, b, made);
    return made;
  }
  Tile both(const Tile &a, const Tile &b) { return logic(InstructionId::TAnd, {a, b}); }
  Tile either(const Tile &a, const Tile &b) { return logic(InstructionId::TOr, {a, b}); }
  Tile inverse(const Tile &a) { return logic(InstructionId::TNot, {a}); }
  /// All bits of a word are its first one.
  Tile signs(const Tile &a) { return right(a, 31); }
  /// Words shifted by a number of bits that they have; to the right with copies of their signs, or with zeros.
  Tile left(const Tile &a, int by) { return shifted(InstructionId::TShls, a, word_, by); }
  Tile right(const Tile &a, int by) { return shifted(InstructionId::TShrs, a, word_, by); }
  Tile rightUnsigned(const Tile &a, int by) {
    return shifted(InstructionId::TShrs, a, unsignedWord(), by);
  }

  /// What each first word of a pair has, in the second one; 0 in the first ones.
  Tile inSecond(const Tile &a) {
    Value first = firstColumn();
    return both(moved(a, {constant(c_, 0), first, columnsBehind(first)}), secondWords());
  }
  /// What each second word of a pair has, in the first one; 0 in the second ones.
  Tile inFirst(const Tile &a) {
    Value first = firstColumn();
    return both(moved(a, {first, constant(c_, 0), columnsBehind(first)}), inverse(secondWords()));
  }
  /// What each second word has, and 0 in the first ones.
  Tile second(const Tile &a) { return both(a, secondWords()); }

  /// All pairs of these words.
  void fill(Value low, Value high, const Tile &into) {
    // An odd column has -1 here, so that it gets the one word, and an even one the other.
    Value apart = c_.b.createOrFold<arith::SubIOp>(loc_, low, high);
    Tile row = withScalar(InstructionId::TAdds,
                          withScalar(InstructionId::TMuls, secondOfRow(), apart), low);
    if (extents_.rows == 1)
      emit(c_, loc_, InstructionId::TAdds, {row.buffer, constantOf(c_, word_, 0)}, {into.buffer});
    else
      emit(c_, loc_, InstructionId::TColExpand, {row.buffer}, {into.buffer});
  }

private:
  Tile at(Value buffer) const {
    Tile tile;
    tile.form = Tile::Form::Whole;
    tile.element = word_;
    tile.extents = extents_;
    tile.buffer = buffer;
    return tile;
  }
  Tile logic(InstructionId id, llvm::ArrayRef<Tile> operands) {
    Tile made = make();
    Type half = c_.b.getI16Type(); // of which all machines have logic
    llvm::SmallVector<Value> in;
    for (const Tile &operand : operands)
      in.push_back(wordsOf(c_, operand.buffer, half));
    emit(c_, loc_, id, in, {wordsOf(c_, made.buffer, half)});
    return made;
  }
  Type unsignedWord() { return c_.b.getIntegerType(32, false); }
  /// A row may have no elements, and then has no first word either.
  Value firstColumn() { return minimum(c_, extents_.validCols, constant(c_, 1)); }
  Value columnsBehind(Value first) {
    return c_.b.createOrFold<arith::SubIOp>(loc_, extents_.validCols, first);
  }
  /// Columns moved by one, beside zeros.
  Tile moved(const Tile &a, const ColumnMove &move) {
    Tile next = make();
    fillWith(c_, next, constantOf(c_, word_, 0), loc_);
    auto shaped = [](const Tile &tile) {
      return ShapedTile{tile, {tile.extents.validRows, tile.extents.validCols}};
    };
    [[maybe_unused]] bool hasMoved = gatherColumns(c_, shaped(a), shaped(next), move, loc_);
    assert(hasMoved && "words can be gathered");
    return next;
  }
  Tile withScalar(InstructionId id, const Tile &a, Value scalar) {
    Tile made = a;
    made.buffer = allocateLike(c_, made, loc_);
    emit(c_, loc_, id, {a.buffer, scalar}, {made.buffer});
    return made;
  }
  Tile shifted(InstructionId id, const Tile &a, Type as, int by) {
    Tile made = a;
    made.buffer = allocateLike(c_, made, loc_);
    emit(c_, loc_, id, {sameWidth(c_, a, as), constantOf(c_, as, by)}, {sameWidth(c_, made, as)});
    return made;
  }
  /// All bits of second words are 1, of first ones 0: odd columns have their last bit set.
  Tile secondOfRow() {
    Tile row = at({});
    row.extents.rows = 1;
    row.extents.validRows = constant(c_, 1);
    row.buffer = allocateLike(c_, row, loc_);
    emit(c_, loc_, InstructionId::TCi, {constantOf(c_, word_, 0)}, {row.buffer},
         {c_.b.getNamedAttr("descending", c_.b.getBoolAttr(false))});
    return signs(left(row, 31));
  }
  Tile secondWords() {
    Tile row = secondOfRow();
    if (extents_.rows == 1)
      return row;
    Tile all = make();
    emit(c_, loc_, InstructionId::TColExpand, {row.buffer}, {all.buffer});
    return all;
  }

  KernelContext &c_;
  Location loc_;
  Type word_;
  Extents2 extents_;
};
} // namespace

/// Whether the machine does to words what `Words` does.
static bool hasWords(MLIRContext *context, const Machine &machine) {
  Builder b(context);
  Type word = b.getI32Type(), half = b.getI16Type(), plain = b.getIntegerType(32, false);
  auto has = [&](llvm::ArrayRef<InstructionId> ids, llvm::ArrayRef<Type> types) {
    return llvm::all_of(ids, [&](InstructionId id) { return takes(machine, id, types); });
  };
  using I = InstructionId;
  return has({I::TAdd, I::TSub, I::TMuls, I::TAdds, I::TMax, I::TRowExpandAdd, I::TColExpandAdd,
              I::TShls, I::TShrs, I::TColExpand, I::TCi, I::TExpands},
             {word}) &&
         has({I::TShrs}, {plain}) && has({I::TAnd, I::TOr, I::TNot, I::TAdds}, {half}) &&
         has({I::TGather}, {word, word});
}

static bool isWide(Operation *op) {
  return op->getNumResults() == 1 && isa<ir::ArrayType>(op->getResult(0).getType()) &&
         ir::elementTypeOf(op->getResult(0).getType()).isInteger(64);
}

/// By how many bits all elements are shifted, if that is known.
static std::optional<int> shiftOf(Operation *op) {
  std::optional<double> known = ir::legalize::constantOf(op->getOperand(1));
  return known && *known >= 0 && *known < 64 ? std::optional(static_cast<int>(*known))
                                             : std::nullopt;
}

static llvm::StringRef wayOfSum(Operation *op, const Machine &machine) {
  bool has = isa<ir::AddOp, ir::SubOp>(op) && isWide(op) && hasWords(op->getContext(), machine);
  return has ? "pairs of words" : "";
}

static llvm::StringRef wayOfShift(Operation *op, const Machine &machine) {
  bool has = isa<ir::ShlOp, ir::ShrOp>(op) && isWide(op) && shiftOf(op) &&
             hasWords(op->getContext(), machine);
  return has ? "shifted pairs of words" : "";
}

/// An operand as a tile of the result's extents; nothing if it has been refused.
static std::optional<Tile> wholeOperand(KernelContext &c, Operation *op, Value operand) {
  std::optional<Tile> tile = operandTile(c, op, operand);
  if (!tile)
    return tile;
  Tile spreadTile = spread(c, *tile, operand.getType(), op->getResult(0).getType(), op);
  return materialise(c, spreadTile, op->getLoc());
}

static void lowerSum(KernelContext &c, Operation *op) {
  Location loc = c.loc = op->getLoc();
  std::optional<Tile> out = resultTile(c, op);
  llvm::SmallVector<Tile> in;
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = wholeOperand(c, op, operand);
    if (!tile || !out)
      return;
    in.push_back(*tile);
  }
  out->form = formOf(out->extents);
  out->buffer = allocateLike(c, *out, loc);
  Words words(c, *out, loc);
  Tile x = words.of(in[0]), y = words.of(in[1]);
  bool isSum = isa<ir::AddOp>(op);
  Tile sums = words.combined(isSum ? InstructionId::TAdd : InstructionId::TSub, x, y);
  // A sum overflows where both words have their first bit set, or one has and the sum does not; a difference where
  // this is so of the inverse of the first word, and the difference has its first bit set.
  Tile a = isSum ? x : words.inverse(x), lost = isSum ? words.inverse(sums) : sums;
  Tile overflow = words.either(words.both(a, y), words.both(words.either(a, y), lost));
  // It is -1, so that it is taken from sums and added to differences.
  Tile carried = words.inSecond(words.signs(overflow));
  words.combine(isSum ? InstructionId::TSub : InstructionId::TAdd, sums, carried, words.of(*out));
  setTile(c, op->getResult(0), *out);
}

/// A pair shifted by `by` bits: each word by itself, and what leaves one of them in the other.
static Tile shiftedPairs(Words &words, const Tile &x, int by, bool left, bool keepsSign) {
  int beyond = by - 32;
  if (left)
    return beyond >= 0
               ? words.inSecond(words.left(x, beyond))
               : words.either(words.left(x, by), words.inSecond(words.rightUnsigned(x, 32 - by)));
  Tile first = beyond < 0  ? words.inFirst(words.left(x, 32 - by))
               : keepsSign ? words.inFirst(words.right(x, beyond))
                           : words.inFirst(words.rightUnsigned(x, beyond));
  Tile result = beyond < 0 ? words.either(words.rightUnsigned(x, by), first) : first;
  if (!keepsSign)
    return result;
  Tile signs = words.signs(x);
  return words.either(result, words.second(beyond < 0 ? words.left(signs, 32 - by) : signs));
}

static void lowerWideShift(KernelContext &c, Operation *op) {
  Location loc = c.loc = op->getLoc();
  std::optional<Tile> out = resultTile(c, op);
  std::optional<Tile> in = wholeOperand(c, op, op->getOperand(0));
  if (!in || !out)
    return;
  int by = *shiftOf(op);
  out->form = formOf(out->extents);
  out->buffer = allocateLike(c, *out, loc);
  if (by == 0) {
    copy(c, *in, *out, loc);
    return setTile(c, op->getResult(0), *out);
  }
  Words words(c, *out, loc);
  bool keepsSign = !out->element.isUnsignedInteger();
  Tile shifted = shiftedPairs(words, words.of(*in), by, isa<ir::ShlOp>(op), keepsSign);
  emit(c, loc, InstructionId::TAdds, {shifted.buffer, constantOf(c, c.b.getI32Type(), 0)},
       {words.of(*out).buffer});
  setTile(c, op->getResult(0), *out);
}

bool fillWide(KernelContext &c, const Tile &tile, Value scalar, Location loc) {
  if (!tile.element.isInteger(64) || !hasWords(c.b.getContext(), c.machine))
    return false;
  c.loc = loc;
  Type wide = c.b.getI64Type(), word = c.b.getI32Type();
  if (scalar.getType() != wide)
    scalar = c.b.create<UnrealizedConversionCastOp>(loc, wide, scalar).getResult(0);
  Value by = c.b.createOrFold<arith::ConstantOp>(loc, c.b.getI64IntegerAttr(32));
  Value low = c.b.createOrFold<arith::TruncIOp>(loc, word, scalar);
  Value high = c.b.createOrFold<arith::ShRSIOp>(loc, scalar, by);
  high = c.b.createOrFold<arith::TruncIOp>(loc, word, high);
  Words words(c, tile, loc);
  Tile all = words.of(tile);
  llvm::APInt first, second;
  if (matchPattern(low, m_ConstantInt(&first)) && matchPattern(high, m_ConstantInt(&second)) &&
      first == second)
    emit(c, loc, InstructionId::TExpands, {low}, {all.buffer});
  else
    words.fill(low, high, all);
  return true;
}

InstructionPatterns widePatterns() {
  static constexpr InstructionPattern patterns[] = {{wayOfSum, lowerSum},
                                                    {wayOfShift, lowerWideShift}};
  return patterns;
}

} // namespace ptl::block
