// Integers of 64 bits, which no vector instruction takes, as pairs of words: all words are added at once, and a
// word that overflows carries into the next one.
#include "passes/lower_block/lower_wide.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
  Tile signs(const Tile &a) { return shifted(InstructionId::TShrs, a); }

  /// What each first word of a pair has, in the second one; 0 in the first ones.
  Tile inSecond(const Tile &a) {
    Tile next = make();
    fillWith(c_, next, constantOf(c_, word_, 0), loc_);
    auto shaped = [](const Tile &tile) {
      return ShapedTile{tile, {tile.extents.validRows, tile.extents.validCols}};
    };
    // A row may have no elements, and then has no first word either.
    Value first = minimum(c_, extents_.validCols, constant(c_, 1));
    Value others = c_.b.createOrFold<arith::SubIOp>(loc_, extents_.validCols, first);
    [[maybe_unused]] bool moved =
        gatherColumns(c_, shaped(a), shaped(next), {constant(c_, 0), first, others}, loc_);
    assert(moved && "words can be gathered");
    return both(next, secondWords());
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
  Tile shifted(InstructionId id, const Tile &a) {
    Tile made = a;
    made.buffer = allocateLike(c_, made, loc_);
    emit(c_, loc_, id, {a.buffer, constantOf(c_, word_, 31)}, {made.buffer});
    return made;
  }
  /// All bits of second words are 1, of first ones 0: odd columns have their last bit set.
  Tile secondWords() {
    Tile row = at({});
    row.extents.rows = 1;
    row.extents.validRows = constant(c_, 1);
    row.buffer = allocateLike(c_, row, loc_);
    emit(c_, loc_, InstructionId::TCi, {constantOf(c_, word_, 0)}, {row.buffer},
         {c_.b.getNamedAttr("descending", c_.b.getBoolAttr(false))});
    row = signs(shifted(InstructionId::TShls, row));
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

static llvm::StringRef wayOf(Operation *op, const Machine &machine) {
  if (!isa<ir::AddOp, ir::SubOp>(op) ||
      !ir::elementTypeOf(op->getResult(0).getType()).isInteger(64))
    return "";
  Builder b(op->getContext());
  Type word = b.getI32Type(), half = b.getI16Type();
  auto has = [&](llvm::ArrayRef<InstructionId> ids, llvm::ArrayRef<Type> types) {
    return llvm::all_of(ids, [&](InstructionId id) { return takes(machine, id, types); });
  };
  using I = InstructionId;
  bool all = has({I::TAdd, I::TSub, I::TMuls, I::TAdds, I::TMax, I::TRowExpandAdd, I::TColExpandAdd,
                  I::TShls, I::TShrs, I::TColExpand, I::TCi, I::TExpands},
                 {word}) &&
             has({I::TAnd, I::TOr, I::TNot, I::TAdds}, {half}) && has({I::TGather}, {word, word});
  return all ? "pairs of words" : "";
}

static void lowerSum(KernelContext &c, Operation *op) {
  Location loc = c.loc = op->getLoc();
  std::optional<Tile> out = resultTile(c, op);
  llvm::SmallVector<Tile> in;
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(c, op, operand);
    if (!tile || !out)
      return;
    in.push_back(
        materialise(c, spread(c, *tile, operand.getType(), op->getResult(0).getType(), op), loc));
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

InstructionPatterns widePatterns() {
  static constexpr InstructionPattern patterns[] = {{wayOf, lowerSum}};
  return patterns;
}

} // namespace ptl::block
