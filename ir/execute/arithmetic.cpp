#include "ir/execute/arithmetic.h"

#include "ir/dialect/element_types.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/scalar_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::execute {

ElemKind kindOf(mlir::Type scalar) {
  return scalar.isIndex()      ? ElemKind::Int
         : scalar.isInteger(1) ? ElemKind::Bool
                               : ir::elemKindOf(scalar);
}

std::optional<Scalar> evaluateArithmetic(Operation *op, std::span<const Scalar> operands,
                                         std::string &why) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return operands[0].i ? operands[1] : operands[2];
  // Positions are most of what is computed: without a detour by attributes.
  if (operands.size() == 2 && op->getOperand(0).getType().isIndex())
    if (std::optional<ArithUse> use = ir::arithUseOf(op))
      if (std::optional<Scalar> number = evaluate(*use, operands))
        return number;
  llvm::SmallVector<Attribute> constants;
  for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
    constants.push_back(ir::constantOf(operand, value.getType()));
  llvm::SmallVector<OpFoldResult> results;
  if (op->getNumResults() == 1 && succeeded(op->fold(constants, results)) && results.size() == 1) {
    if (auto constant = dyn_cast<Attribute>(results[0]))
      return ir::scalarOf(constant);
    for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
      if (value == cast<mlir::Value>(results[0]))
        return operand;
  }
  why = "`" + op->getName().getStringRef().str() + "` has no value here";
  return std::nullopt;
}

} // namespace ptl::execute
