// Scalar operations: one step each, by the table.
#include "runtime/sim/load/function_loader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::rt::sim {

bool FunctionLoader::loadConstant(Operation *op) {
  std::optional<ptl::Scalar> value = ir::scalarOf(cast<arith::ConstantOp>(op).getValue());
  if (!value || !ir::registerKindOf(op->getResult(0).getType()))
    return fail(op, "is not a scalar");
  add(StepKind::Constant, op, {}).constant = {value->i, value->f};
  return true;
}

bool FunctionLoader::loadScalar(Operation *op, bool &known) {
  bool isConstant = isa<arith::ConstantOp>(op);
  std::optional<ArithOp> arithmetic = ir::arithOpOf(op);
  known = isConstant || arithmetic;
  if (isConstant || !arithmetic)
    return !isConstant || loadConstant(op);
  if (op->getNumOperands() != operandCount(*arithmetic) || op->getNumResults() != 1)
    return fail(op, "has an unknown number of operands");
  std::optional<ArithUse> use = ir::arithUseOf(op);
  if (!use)
    return fail(op, "works on a value that is not a scalar");
  Step &step = add(StepKind::Compute, op, op->getOperands());
  step.op = use->op;
  step.type.kind = use->type;
  step.operandType.kind = use->operandType;
  step.predicate = use->predicate;
  return true;
}

} // namespace ptl::rt::sim
