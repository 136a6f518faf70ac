// Bits: logic on words and on packed conditions, shifts, the same bytes as another type, and fills
// and copies of element types that the instructions know under another name.
#include "passes/lower_block/lower_bits.h"
#include "frontend/base/round_up.h"
#include "ir/dialect/op_facts.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_wide.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- other names of the same bytes --------------------------------------------------------------

/// The valid rows and columns of a buffer that has them as values.
static std::pair<Value, Value> validOf(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast_or_null<pto::AllocTileOp>(op))
    return {alloc.getValidRow(), alloc.getValidCol()};
  if (auto get = dyn_cast_or_null<pto::MultiTileGetOp>(op))
    return {get.getValidRow(), get.getValidCol()};
  if (auto view = dyn_cast_or_null<pto::TReshapeOp>(op))
    return {view.getValidRow(), view.getValidCol()};
  if (auto part = dyn_cast_or_null<pto::SubsetOp>(op))
    return {part.getValidRow(), part.getValidCol()};
  return {};
}

/// The buffer with its rows as elements of another type, as many as fit. Whole words are touched,
/// also where the last one is used in part.
Value wordsOf(KernelContext &c, Value buffer, Type element) {
  auto type = cast<pto::TileBufType>(buffer.getType());
  if (type.getElementType() == element)
    return buffer;
  int64_t from = pto::elementBytes(type.getElementType()), to = pto::elementBytes(element);
  // A window has the words of what it is a window of, at the same place.
  if (auto part = buffer.getDefiningOp<pto::SubsetOp>(); part && from % to == 0) {
    int64_t scale = from / to, validCols = type.getValidCols();
    Value whole = wordsOf(c, part.getSource(), element);
    auto times = [&](Value cols) {
      return cols ? c.b.createOrFold<arith::MulIOp>(c.loc, cols, constant(c, scale)) : cols;
    };
    auto as = pto::TileBufType::get(c.b.getContext(), type.getPlace(), type.getRows(),
                                    type.getCols() * scale, element, type.getValidRows(),
                                    validCols == pto::kDynamic ? validCols : validCols * scale,
                                    type.getLayout());
    return c.b.create<pto::SubsetOp>(c.loc, as, whole, part.getRow(), times(part.getCol()),
                                     part.getValidRow(), times(part.getValidCol()));
  }
  auto scaled = [&](int64_t cols) { return countCovering(cols * from, to); };
  auto [rows, cols] = validOf(buffer);
  int64_t validRows = type.getValidRows(), validCols = type.getValidCols();
  // A buffer whose valid part nobody names is used as a whole.
  if (validRows == pto::kDynamic && !rows)
    validRows = type.getRows();
  if (llvm::APInt known;
      validCols == pto::kDynamic && cols && matchPattern(cols, m_ConstantInt(&known)))
    validCols = known.getSExtValue();
  // A valid length that is not a whole number of words cannot be computed exactly, so whole rows
  // are touched.
  if (validCols == pto::kDynamic && (!cols || from % to != 0)) {
    validCols = scaled(type.getCols());
    cols = {};
  } else if (validCols == pto::kDynamic) {
    cols = c.b.createOrFold<arith::MulIOp>(c.loc, cols, constant(c, from / to));
  } else {
    validCols = scaled(validCols);
    cols = {};
  }
  auto as = pto::TileBufType::get(c.b.getContext(), type.getPlace(), type.getRows(),
                                  scaled(type.getCols()), element, validRows, validCols,
                                  type.getLayout());
  return seenAs(c, c.loc, buffer, as, rows, cols);
}

/// Whether rows of bytes may be written as words of two, with what lies between them in the buffer.
static bool isOfWholeWords(const Tile &tile) {
  auto type = cast<pto::TileBufType>(tile.buffer.getType());
  pto::Layout layout = type.getLayout();
  return layout.box == pto::Layout::RowMajor && layout.inner == pto::Layout::None &&
         type.getCols() % 2 == 0 && !tile.buffer.getDefiningOp<pto::SubsetOp>();
}

/// The byte of a scalar twice, as a word.
static Value twice(KernelContext &c, Value scalar, Type element, Location loc) {
  Type byte = c.b.getI8Type(), word = c.b.getI16Type();
  if (isa<FloatType>(element))
    scalar = c.b.createOrFold<arith::BitcastOp>(loc, byte, scalar);
  else if (scalar.getType() != byte)
    scalar = c.b.create<UnrealizedConversionCastOp>(loc, byte, scalar).getResult(0);
  Value low = c.b.createOrFold<arith::ExtUIOp>(loc, word, scalar);
  Value both = c.b.createOrFold<arith::ConstantOp>(loc, c.b.getI16IntegerAttr(0x101));
  return c.b.createOrFold<arith::MulIOp>(loc, low, both);
}

void fillWith(KernelContext &c, const Tile &tile, Value scalar, Location loc) {
  if (tile.form == Form::Mask) { // all bits of a word are one condition
    Value bits = c.b.createOrFold<arith::ExtSIOp>(loc, c.b.getI16Type(), scalar);
    c.loc = loc;
    emit(c, loc, InstructionId::TExpands, {bits}, {wordsOf(c, tile.buffer, c.b.getI16Type())});
    return;
  }
  // The instruction of the element type comes first, as the shortest way.
  if (takes(c, InstructionId::TExpands, {tile.element})) {
    emit(c, loc, InstructionId::TExpands, {scalar}, {tile.buffer});
    return;
  }
  int64_t bytes = pto::elementBytes(tile.element);
  Type word = c.b.getIntegerType(static_cast<unsigned>(8 * bytes));
  c.loc = loc;
  // The bits of a number are the same under an integer type of its width.
  if ((bytes == 2 || bytes == 4) && takes(c, InstructionId::TExpands, {word})) {
    Value bits = isa<FloatType>(tile.element)
                     ? c.b.createOrFold<arith::BitcastOp>(loc, word, scalar)
                     : c.b.create<UnrealizedConversionCastOp>(loc, word, scalar).getResult(0);
    Value view = sameWidth(c, tile, word);
    emit(c, loc, InstructionId::TExpands, {bits}, {view});
    return;
  }
  // Bytes are filled in pairs where no row ends within a word, or the byte behind it would be lost.
  if (bytes == 1 && isOfWholeWords(tile) && takes(c, InstructionId::TExpands, {c.b.getI16Type()})) {
    Value both = twice(c, scalar, tile.element, loc);
    emit(c, loc, InstructionId::TExpands, {both}, {wordsOf(c, tile.buffer, c.b.getI16Type())});
    return;
  }
  if (fillWide(c, tile, scalar, loc))
    return;
  // The scalar unit is slow, but writes every type.
  ShapedTile all{tile, {tile.extents.validRows, tile.extents.validCols}};
  forEach(c, all.lengths, [&](Indices at) { writeElement(c, all, at, scalar); });
}

/// A tile's buffer under an element type of the same width, with the same valid part.
Value sameWidth(KernelContext &c, const Tile &tile, Type element) {
  auto type = cast<pto::TileBufType>(tile.buffer.getType());
  if (type.getElementType() == element)
    return tile.buffer;
  auto as =
      pto::TileBufType::get(c.b.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                            element, type.getValidRows(), type.getValidCols(), type.getLayout());
  Extents2 stored = storage(c, tile).first;
  return seenAs(c, c.loc, tile.buffer, as, stored.validRows, stored.validCols);
}

/// A whole tile to another buffer of its type. Of masks whole pairs of bytes have been written.
void copy(KernelContext &c, const Tile &from, const Tile &to, Location loc) {
  c.loc = loc;
  Type word = to.form == Form::Mask ? c.b.getI16Type() : c.b.getI32Type();
  if (takes(c, InstructionId::TMov, {to.element}))
    emit(c, loc, InstructionId::TMov, {from.buffer}, {to.buffer});
  else
    emit(c, loc, InstructionId::TMov, {wordsOf(c, from.buffer, word)},
         {wordsOf(c, to.buffer, word)});
}

// ---- logic --------------------------------------------------------------------------------------

/// The instruction of an operation on bits; none for others.
static std::optional<InstructionId> logicOf(Operation *op) {
  const OpLowering *lowering = ir::loweringOf(op);
  return lowering && lowering->forms.onBits ? lowering->forms.tiles : std::nullopt;
}

/// On words that the instruction takes, whatever the elements are.
static void lowerLogic(KernelContext &c, Operation *op, InstructionId id) {
  Location loc = op->getLoc();
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  bool masks = out->element.isInteger(1);
  if (masks)
    out->form = Form::Mask;
  llvm::SmallVector<Value> buffers;
  Type word = out->element;
  // Bitwise logic does not depend on the width of the words, so 16 bits do for any type.
  if (masks || !takes(c, id, {word}))
    word = c.b.getIntegerType(16);
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(c, op, operand);
    if (!tile)
      return;
    if (masks && tile->form != Form::Mask)
      return fail(c, op, "`" + op->getName().stripDialect().str() + "` of this condition");
    Tile whole =
        masks ? *tile
              : materialise(c, spread(c, *tile, operand.getType(), op->getResult(0).getType(), op),
                            loc);
    buffers.push_back(wordsOf(c, whole.buffer, word));
  }
  out->buffer = allocateLike(c, *out, loc);
  Value result = wordsOf(c, out->buffer, word);
  // In the table `x` stands for a scratch tile.
  bool needsScratch = instructionInfo(id).ins.find('x') != std::string_view::npos;
  if (needsScratch) {
    Tile like = *out;
    buffers.push_back(wordsOf(c, allocateLike(c, like, loc), word));
  }
  emit(c, loc, id, buffers, {result});
  setTile(c, op->getResult(0), *out);
}

static void lowerShift(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  bool left = isa<ir::ShlOp>(op);
  Value x = op->getOperand(0), count = op->getOperand(1);
  std::optional<Tile> a = operandTile(c, op, x), b = operandTile(c, op, count),
                      out = resultTile(c, op);
  if (!a || !b || !out)
    return;
  Type type = op->getResult(0).getType();
  Tile source = materialise(c, spread(c, *a, x.getType(), type, op), loc);
  InstructionId scalar = left ? InstructionId::TShls : InstructionId::TShrs;
  out->buffer = destination(c, op, *out);
  // The form with a scalar needs no tile for the amount.
  if (b->form == Form::Splat && takes(c, scalar, {out->element}))
    emit(c, loc, scalar, {source.buffer, b->scalar}, {out->buffer});
  else
    emit(c, loc, left ? InstructionId::TShl : InstructionId::TShr,
         {source.buffer, materialise(c, spread(c, *b, count.getType(), type, op), loc).buffer},
         {out->buffer});
  setTile(c, op->getResult(0), *out);
}

/// The remainder of floats, with the sign of the dividend.
static void lowerFmod(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  std::optional<Tile> a = operandTile(c, op, x), b = operandTile(c, op, y), out = resultTile(c, op);
  if (!a || !b || !out)
    return;
  Type type = op->getResult(0).getType();
  Tile source = materialise(c, spread(c, *a, x.getType(), type, op), loc);
  out->buffer = allocateLike(c, *out, loc);
  if (b->form == Form::Splat)
    emit(c, loc, InstructionId::TFmods, {source.buffer, b->scalar}, {out->buffer});
  else
    emit(c, loc, InstructionId::TFmod,
         {source.buffer, materialise(c, spread(c, *b, y.getType(), type, op), loc).buffer},
         {out->buffer});
  setTile(c, op->getResult(0), *out);
}

static void lowerBitcast(KernelContext &c, Operation *op) {
  std::optional<Tile> in = operandTile(c, op, op->getOperand(0)), out = resultTile(c, op);
  if (!in || !out)
    return;
  // A scalar is cast by the scalar unit.
  if (in->form == Form::Splat) {
    out->form = Form::Splat;
    out->scalar = scalarResult(c.b, op, {in->scalar}, out->element);
    return setTile(c, op->getResult(0), *out);
  }
  out->form = in->form;
  out->buffer = sameWidth(c, *in, out->element);
  setTile(c, op->getResult(0), *out);
}

// ---- patterns -----------------------------------------------------------------------------------

static constexpr InstructionPattern kLogic = {
    [](Operation *op, const Machine &) -> llvm::StringRef {
      std::optional<InstructionId> id = logicOf(op);
      return id ? instructionInfo(*id).mnemonic : "";
    },
    [](KernelContext &c, Operation *op) { lowerLogic(c, op, *logicOf(op)); }};

static constexpr InstructionPattern kBitcast = {
    [](Operation *op, const Machine &) -> llvm::StringRef {
      return isa<ir::BitcastOp>(op) ? "bitcast" : "";
    },
    lowerBitcast};

static constexpr InstructionPattern kShift = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      InstructionId id = isa<ir::ShlOp>(op) ? InstructionId::TShl : InstructionId::TShr;
      bool has = isa<ir::ShlOp, ir::ShrOp>(op) &&
                 takes(machine, id, {ir::elementTypeOf(op->getResult(0).getType())});
      return has ? instructionInfo(id).mnemonic : "";
    },
    lowerShift};

static constexpr InstructionPattern kFmod = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      bool has =
          isa<ir::RemOp>(op) &&
          takes(machine, InstructionId::TFmod, {ir::elementTypeOf(op->getResult(0).getType())}) &&
          takes(machine, InstructionId::TFmods, {ir::elementTypeOf(op->getResult(0).getType())});
      return has ? instructionInfo(InstructionId::TFmod).mnemonic : "";
    },
    lowerFmod};

InstructionPatterns bitPatterns() {
  static constexpr InstructionPattern patterns[] = {kLogic, kBitcast, kShift, kFmod};
  return patterns;
}

} // namespace ptl::block
