// Operations on scalars, and with them those on tiles that no instruction takes: the scalar unit
// goes through the elements.
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

Value KernelLowering::lowerScalarArithmetic(Operation *op) {
  llvm::SmallVector<Value> in;
  for (Value operand : op->getOperands()) {
    in.push_back(scalarOf(operand));
    if (!in.back())
      return {};
  }
  if (op->getNumResults() != 1)
    return {};
  return scalarResult(b_, op, in, op->getResult(0).getType());
}

// ---- elementwise --------------------------------------------------------------------------------

/// Packed conditions as numbers 1 and 0, which have elements.
Tile KernelLowering::numbersOf(const Tile &mask, Location loc) {
  Tile numbers = mask;
  numbers.element = b_.getF16Type();
  numbers.form = mask.extents.cols == 1 && mask.extents.rows > 1 ? Form::Column : Form::Whole;
  Tile ones = numbers;
  ones.buffer = allocateLike(ones, loc);
  fillWith(ones, constantOf(numbers.element, 1), loc);
  numbers.buffer = allocateLike(numbers, loc);
  Extents2 one{1, 32, constant(1), constant(32)};
  Value scratch = allocate(ir::Place::Vec, "nd", one, b_.getI8Type(), loc);
  emit(loc, InstructionId::TSels,
       {mask.buffer, ones.buffer, scratch, constantOf(numbers.element, 0)}, {numbers.buffer});
  return numbers;
}

/// Numbers as packed conditions.
Tile KernelLowering::maskOf(const Tile &numbers, Location loc) {
  Tile mask = numbers;
  mask.form = Form::Mask;
  mask.element = b_.getI1Type();
  mask.buffer = allocateLike(mask, loc);
  emit(loc, InstructionId::TCmps, {numbers.buffer, constantOf(numbers.element, 0)}, {mask.buffer},
       {b_.getNamedAttr("cmpMode", pto::CmpModeAttr::get(b_.getContext(), pto::CmpMode::ne))});
  return mask;
}

bool KernelLowering::lowerByElements(Operation *op) {
  if (op->getNumResults() != 1 || isScalar(op->getResult(0)) || op->getNumRegions())
    return false;
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType(), element = ir::elementTypeOf(type);
  std::optional<Tile> out = resultTile(op);
  if (!out)
    return true;
  bool toMask = element.isInteger(1);
  if (toMask)
    out->element = b_.getF16Type();
  llvm::SmallVector<ShapedTile> operands;
  llvm::SmallVector<bool> masks;
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(op, operand);
    if (!tile)
      return true;
    masks.push_back(tile->form == Form::Mask);
    operands.push_back(shaped(masks.back() ? numbersOf(*tile, loc) : *tile, operand.getType()));
  }
  out->buffer = allocateLike(*out, loc);
  ShapedTile to = shaped(*out, type);
  loc_ = loc;
  bool known = true;
  forEach(to.lengths, [&](Indices at) {
    llvm::SmallVector<Value> in;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value value =
          readElement(operand, broadcastPositions(op->getOperand(i).getType(), at, constant(0)));
      if (masks[i])
        value = b_.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, value,
                                         constantOf(value.getType(), 0));
      in.push_back(value);
    }
    Value result = scalarResult(b_, op, in, element);
    if (!(known = static_cast<bool>(result)))
      return;
    if (toMask)
      result = b_.create<arith::SelectOp>(loc, result, constantOf(out->element, 1),
                                          constantOf(out->element, 0));
    writeElement(to, at, result);
  });
  if (known)
    setTile(op->getResult(0), toMask ? maskOf(*out, loc) : *out);
  return known;
}

} // namespace ptl::block
