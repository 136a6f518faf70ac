#include "passes/analysis/fix_pipe.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

bool isZeroValue(Value value) {
  if (!isa<ArrayType>(value.getType()))
    return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
  if (value.getDefiningOp<ZerosOp>())
    return true;
  auto full = value.getDefiningOp<FullOp>();
  return full && isZeroValue(full->getOperands().back());
}

Value reluOperand(Operation *op) {
  if (!isa<MaxOp>(op))
    return {};
  for (unsigned number : {0u, 1u}) {
    Value limited = op->getOperand(number);
    // What is made has the type of the operand, so nothing is repeated.
    if (isZeroValue(op->getOperand(1 - number)) && limited.getType() == op->getResult(0).getType())
      return limited;
  }
  return {};
}

/// The operand of a conversion that the fix pipe does as it stores: to nearest, ties to even.
static Value rounded(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (!convert || convert.getRound() != "even" || !isa<ArrayType>(op->getOperand(0).getType()))
    return {};
  Type from = elementTypeOf(op->getOperand(0).getType()),
       to = elementTypeOf(op->getResult(0).getType());
  return from.isF32() && (to.isF16() || to.isBF16()) ? op->getOperand(0) : Value();
}

FixedOnTheWay throughFixPipe(Value stored) {
  FixedOnTheWay way{stored, {}};
  bool isRounded = false, isLimited = false;
  while (Operation *op = way.source.getDefiningOp()) {
    Value limited = isLimited ? Value() : reluOperand(op);
    Value before = isRounded || limited ? limited : rounded(op);
    // Other readers need the value as it is before.
    if (!before || !before.hasOneUse())
      break;
    (limited ? isLimited : isRounded) = true;
    way.ops.push_back(op);
    way.source = before;
  }
  return way;
}

} // namespace ptl::ir
