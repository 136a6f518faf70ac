// Operations on scalars, and with them those on tiles that no instruction takes: the scalar unit
// goes through the elements.
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

Value lowerScalarArithmetic(KernelContext &c, Operation *op) {
  llvm::SmallVector<Value> in;
  for (Value operand : op->getOperands()) {
    in.push_back(scalarOf(c, operand));
    if (!in.back())
      return {};
  }
  if (op->getNumResults() != 1)
    return {};
  return scalarResult(c.b, op, in, op->getResult(0).getType());
}

// ---- elementwise --------------------------------------------------------------------------------

/// Packed conditions as numbers 1 and 0, which have elements.
Tile numbersOf(KernelContext &c, const Tile &mask, Location loc) {
  Tile numbers = mask;
  // Vector instructions take f16, which holds 0 and 1 exactly.
  numbers.element = c.b.getF16Type();
  numbers.form = formOf(mask.extents);
  Tile ones = numbers;
  // `TSELS` selects between a tile and a scalar, so the ones have to be a tile.
  ones.buffer = allocateLike(c, ones, loc);
  fillWith(c, ones, constantOf(c, numbers.element, 1), loc);
  numbers.buffer = allocateLike(c, numbers, loc);
  Extents2 one{1, 32, constant(c, 1), constant(c, 32)};
  Value scratch = allocate(c, ir::Place::Vec, "nd", one, c.b.getI8Type(), loc);
  emit(c, loc, InstructionId::TSels,
       {mask.buffer, ones.buffer, scratch, constantOf(c, numbers.element, 0)}, {numbers.buffer});
  return numbers;
}

/// Numbers as packed conditions.
Tile maskOf(KernelContext &c, const Tile &numbers, Location loc) {
  Tile mask = numbers;
  mask.form = Form::Mask;
  mask.element = c.b.getI1Type();
  mask.buffer = allocateLike(c, mask, loc);
  emit(c, loc, InstructionId::TCmps, {numbers.buffer, constantOf(c, numbers.element, 0)},
       {mask.buffer},
       {c.b.getNamedAttr("cmpMode", pto::CmpModeAttr::get(c.b.getContext(), pto::CmpMode::ne))});
  return mask;
}

/// Whether the scalar unit has an operation, for the elements of its operands: found out with
/// others in their place.
static bool hasScalarForm(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !isa<ir::ArrayType>(op->getResult(0).getType()))
    return false;
  // Building the operation in a block that is thrown away answers for exactly the forms that the
  // lowering has.
  Block scratch;
  llvm::SmallVector<Value> in;
  for (Value operand : op->getOperands())
    in.push_back(scratch.addArgument(ir::elementTypeOf(operand.getType()), op->getLoc()));
  OpBuilder b(op->getContext());
  b.setInsertionPointToEnd(&scratch);
  return static_cast<bool>(scalarResult(b, op, in, ir::elementTypeOf(op->getResult(0).getType())));
}

static void lowerByElements(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType(), element = ir::elementTypeOf(type);
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  bool toMask = element.isInteger(1);
  if (toMask)
    // Single bits cannot be written, so results are numbers that are packed at the end.
    out->element = c.b.getF16Type();
  llvm::SmallVector<ShapedTile> operands;
  llvm::SmallVector<bool> masks;
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(c, op, operand);
    if (!tile)
      return;
    masks.push_back(tile->form == Form::Mask);
    operands.push_back(
        shaped(c, masks.back() ? numbersOf(c, *tile, loc) : *tile, operand.getType()));
  }
  out->buffer = allocateLike(c, *out, loc);
  ShapedTile to = shaped(c, *out, type);
  c.loc = loc;
  forEach(c, to.lengths, [&](Indices at) {
    llvm::SmallVector<Value> in;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value value = readElement(
          c, operand, broadcastPositions(op->getOperand(i).getType(), at, constant(c, 0)));
      if (masks[i])
        value = c.b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, value,
                                          constantOf(c, value.getType(), 0));
      in.push_back(value);
    }
    Value result = scalarResult(c.b, op, in, element);
    if (toMask)
      result = c.b.create<arith::SelectOp>(loc, result, constantOf(c, out->element, 1),
                                           constantOf(c, out->element, 0));
    writeElement(c, to, at, result);
  });
  setTile(c, op->getResult(0), toMask ? maskOf(c, *out, loc) : *out);
}

InstructionPatterns elementPatterns() {
  static constexpr InstructionPattern patterns[] = {
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         return hasScalarForm(op) ? kByElements : llvm::StringLiteral("");
       },
       lowerByElements}};
  return patterns;
}

} // namespace ptl::block
