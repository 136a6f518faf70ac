// Scalar operations: one step each, by the table.
#include "runtime/sim/load/function_loader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::rt::sim {

namespace {
struct Row {
  llvm::StringLiteral spelling;
  ScalarOp op;
  unsigned operands;
};
constexpr Row rows[] = {
#define SCALAR(name, spelling, operands, how) {spelling, ScalarOp::name, operands},
#include "runtime/sim/scalar_ops.def"
};
} // namespace

bool FunctionLoader::loadConstant(Operation *op) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  std::optional<ElemKind> kind = elemKindOf(op->getResult(0).getType());
  Step &step = add(StepKind::Constant, op, {});
  if (auto number = dyn_cast<FloatAttr>(value)) {
    llvm::APFloat exact = number.getValue();
    bool loses = false;
    exact.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    step.constant.f = exact.convertToDouble();
    return true;
  }
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !kind)
    return fail(op, "is no scalar");
  bool zeroExtended = *kind == ElemKind::Bool || !isSigned(*kind);
  step.constant.i = zeroExtended ? static_cast<int64_t>(number.getValue().getZExtValue())
                                 : number.getValue().getSExtValue();
  return true;
}

bool FunctionLoader::loadScalar(Operation *op, bool &known) {
  if (isa<arith::ConstantOp>(op)) {
    known = true;
    return loadConstant(op);
  }
  for (const Row &row : rows) {
    if (row.spelling != op->getName().getStringRef())
      continue;
    known = true;
    if (op->getNumOperands() != row.operands || op->getNumResults() != 1)
      return fail(op, "has an unknown number of operands");
    std::optional<ElemKind> result = elemKindOf(op->getResult(0).getType());
    std::optional<ElemKind> operand = elemKindOf(op->getOperand(0).getType());
    if (!result || !operand)
      return fail(op, "works on a value that is not a scalar");
    Step &step = add(StepKind::Compute, op, op->getOperands());
    step.op = row.op;
    step.type.kind = *result;
    step.operandType.kind = *operand;
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      step.predicate = static_cast<uint8_t>(compare.getPredicate());
    else if (auto compareFloats = dyn_cast<arith::CmpFOp>(op))
      step.predicate = static_cast<uint8_t>(compareFloats.getPredicate());
    return true;
  }
  return true;
}

} // namespace ptl::rt::sim
