// Bits: logic on words and on packed conditions, shifts, the same bytes as another type, and fills
// and copies of element types that the instructions know under another name.
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

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
Value KernelLowering::wordsOf(Value buffer, Type element) {
  auto type = cast<pto::TileBufType>(buffer.getType());
  if (type.getElementType() == element)
    return buffer;
  int64_t from = pto::elementBytes(type.getElementType()), to = pto::elementBytes(element);
  auto scaled = [&](int64_t cols) { return (cols * from + to - 1) / to; };
  auto [rows, cols] = validOf(buffer);
  int64_t validRows = type.getValidRows(), validCols = type.getValidCols();
  if (validRows == pto::kDynamic && !rows)
    validRows = type.getRows();
  if (llvm::APInt known;
      validCols == pto::kDynamic && cols && matchPattern(cols, m_ConstantInt(&known)))
    validCols = known.getSExtValue();
  if (validCols == pto::kDynamic && (!cols || from % to != 0)) {
    validCols = scaled(type.getCols());
    cols = {};
  } else if (validCols == pto::kDynamic) {
    cols = b_.createOrFold<arith::MulIOp>(loc_, cols, constant(from / to));
  } else {
    validCols = scaled(validCols);
    cols = {};
  }
  auto as = pto::TileBufType::get(b_.getContext(), type.getPlace(), type.getRows(),
                                  scaled(type.getCols()), element, validRows, validCols,
                                  type.getLayout());
  return b_.create<pto::TReshapeOp>(loc_, as, buffer, validRows == pto::kDynamic ? rows : Value(),
                                    cols);
}

void KernelLowering::fillWith(const Tile &tile, Value scalar, Location loc) {
  if (tile.form == Form::Mask) { // all bits of a word are one condition
    Value bits = b_.createOrFold<arith::ExtSIOp>(loc, b_.getI16Type(), scalar);
    loc_ = loc;
    emit(loc, InstructionId::TExpands, {bits}, {wordsOf(tile.buffer, b_.getI16Type())});
    return;
  }
  if (takes(InstructionId::TExpands, {tile.element})) {
    emit(loc, InstructionId::TExpands, {scalar}, {tile.buffer});
    return;
  }
  int64_t bytes = pto::elementBytes(tile.element);
  Type word = b_.getIntegerType(static_cast<unsigned>(8 * bytes));
  loc_ = loc;
  if ((bytes == 2 || bytes == 4) && takes(InstructionId::TExpands, {word})) {
    Value bits = isa<FloatType>(tile.element)
                     ? b_.createOrFold<arith::BitcastOp>(loc, word, scalar)
                     : b_.create<UnrealizedConversionCastOp>(loc, word, scalar).getResult(0);
    Value view = sameWidth(tile, word);
    emit(loc, InstructionId::TExpands, {bits}, {view});
    return;
  }
  ShapedTile all{tile, {tile.extents.validRows, tile.extents.validCols}};
  forEach(all.lengths, [&](Indices at) { writeElement(all, at, scalar); });
}

/// A tile's buffer under an element type of the same width, with the same valid part.
Value KernelLowering::sameWidth(const Tile &tile, Type element) {
  auto type = cast<pto::TileBufType>(tile.buffer.getType());
  if (type.getElementType() == element)
    return tile.buffer;
  auto as =
      pto::TileBufType::get(b_.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                            element, type.getValidRows(), type.getValidCols(), type.getLayout());
  Extents2 stored = storage(tile).first;
  return b_.create<pto::TReshapeOp>(
      loc_, as, tile.buffer, as.getValidRows() == pto::kDynamic ? stored.validRows : Value(),
      as.getValidCols() == pto::kDynamic ? stored.validCols : Value());
}

/// A whole tile to another buffer of its type. Of masks whole pairs of bytes have been written.
void KernelLowering::copy(const Tile &from, const Tile &to, Location loc) {
  loc_ = loc;
  Type word = to.form == Form::Mask ? b_.getI16Type() : b_.getI32Type();
  if (takes(InstructionId::TMov, {to.element}))
    emit(loc, InstructionId::TMov, {from.buffer}, {to.buffer});
  else
    emit(loc, InstructionId::TMov, {wordsOf(from.buffer, word)}, {wordsOf(to.buffer, word)});
}

// ---- logic --------------------------------------------------------------------------------------

namespace {
struct LogicForm {
  InstructionId tiles, scalar;
  bool scratch;
};
} // namespace

static std::optional<LogicForm> logicOf(Operation *op) {
  using enum InstructionId;
  return llvm::StringSwitch<std::optional<LogicForm>>(op->getName().stripDialect())
      .Cases("bit_and", "and", LogicForm{TAnd, TAnds, false})
      .Cases("bit_or", "or", LogicForm{TOr, TOrs, false})
      .Case("bit_xor", LogicForm{TXor, TXors, true})
      .Case("not", LogicForm{TNot, TNot, false})
      .Default(std::nullopt);
}

/// On words that the instruction takes, whatever the elements are.
void KernelLowering::lowerLogic(Operation *op, InstructionId id, bool scratch) {
  Location loc = op->getLoc();
  std::optional<Tile> out = resultTile(op);
  if (!out)
    return;
  bool masks = out->element.isInteger(1);
  if (masks)
    out->form = Form::Mask;
  llvm::SmallVector<Value> buffers;
  Type word = out->element;
  if (masks || !takes(id, {word}))
    word = b_.getIntegerType(16);
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(op, operand);
    if (!tile)
      return;
    if (masks && tile->form != Form::Mask)
      return fail(op, "`" + op->getName().stripDialect().str() + "` of this condition");
    Tile whole =
        masks ? *tile
              : materialise(spread(*tile, operand.getType(), op->getResult(0).getType(), op), loc);
    buffers.push_back(wordsOf(whole.buffer, word));
  }
  out->buffer = allocateLike(*out, loc);
  Value result = wordsOf(out->buffer, word);
  if (scratch) {
    Tile like = *out;
    buffers.push_back(wordsOf(allocateLike(like, loc), word));
  }
  emit(loc, id, buffers, {result});
  setTile(op->getResult(0), *out);
}

void KernelLowering::lowerShift(Operation *op) {
  Location loc = op->getLoc();
  bool left = isa<ir::ShlOp>(op);
  Value x = op->getOperand(0), count = op->getOperand(1);
  std::optional<Tile> a = operandTile(op, x), b = operandTile(op, count), out = resultTile(op);
  if (!a || !b || !out)
    return;
  Type type = op->getResult(0).getType();
  Tile source = materialise(spread(*a, x.getType(), type, op), loc);
  InstructionId scalar = left ? InstructionId::TShls : InstructionId::TShrs;
  out->buffer = destination(op, *out);
  if (b->form == Form::Splat && takes(scalar, {out->element}))
    emit(loc, scalar, {source.buffer, b->scalar}, {out->buffer});
  else
    emit(loc, left ? InstructionId::TShl : InstructionId::TShr,
         {source.buffer, materialise(spread(*b, count.getType(), type, op), loc).buffer},
         {out->buffer});
  setTile(op->getResult(0), *out);
}

/// The remainder of floats, with the sign of the dividend.
void KernelLowering::lowerFmod(Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  std::optional<Tile> a = operandTile(op, x), b = operandTile(op, y), out = resultTile(op);
  if (!a || !b || !out)
    return;
  Type type = op->getResult(0).getType();
  Tile source = materialise(spread(*a, x.getType(), type, op), loc);
  out->buffer = allocateLike(*out, loc);
  if (b->form == Form::Splat)
    emit(loc, InstructionId::TFmods, {source.buffer, b->scalar}, {out->buffer});
  else
    emit(loc, InstructionId::TFmod,
         {source.buffer, materialise(spread(*b, y.getType(), type, op), loc).buffer},
         {out->buffer});
  setTile(op->getResult(0), *out);
}

void KernelLowering::lowerBitcast(Operation *op) {
  std::optional<Tile> in = operandTile(op, op->getOperand(0)), out = resultTile(op);
  if (!in || !out)
    return;
  if (in->form == Form::Splat) {
    out->form = Form::Splat;
    out->scalar = scalarResult(b_, op, {in->scalar}, out->element);
    return setTile(op->getResult(0), *out);
  }
  out->form = in->form;
  out->buffer = sameWidth(*in, out->element);
  setTile(op->getResult(0), *out);
}

bool KernelLowering::lowerBits(Operation *op) {
  if (std::optional<LogicForm> form = logicOf(op))
    return lowerLogic(op, form->tiles, form->scratch), true;
  if (isa<ir::BitcastOp>(op))
    return lowerBitcast(op), true;
  Type element = ir::elementTypeOf(op->getResult(0).getType());
  bool shifts = isa<ir::ShlOp, ir::ShrOp>(op) &&
                takes(isa<ir::ShlOp>(op) ? InstructionId::TShl : InstructionId::TShr, {element});
  if (shifts)
    return lowerShift(op), true;
  bool fmod = isa<ir::RemOp>(op) && takes(InstructionId::TFmod, {element}) &&
              takes(InstructionId::TFmods, {element});
  if (fmod)
    return lowerFmod(op), true;
  return false;
}

} // namespace ptl::block
