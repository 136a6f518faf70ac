#include "codegen/pto/emit_pto_scalars.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::pto {

/// Whether a number of the scalar unit is at least 1, whatever the data are.
static bool isPositive(Value number) {
  if (IntegerAttr constant; matchPattern(number, m_Constant(&constant)))
    return constant.getValue().isStrictlyPositive();
  Operation *op = number.getDefiningOp();
  if (!op)
    return false;
  auto isPositiveOperand = [](Value operand) { return isPositive(operand); };
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isPositiveOperand);
  if (isa<arith::MinSIOp>(op))
    return llvm::all_of(op->getOperands(), isPositiveOperand);
  return isa<GetBlockNumOp, GetSubBlockNumOp>(op);
}

/// The divisor of a quotient of positions, where 0 counts as 1, as on the CPU and in the C++ text:
/// what is proved of quotients holds for divisors of at least 1, and no position may lie outside of
/// its array.
static std::string guardedDivisor(PtoCode &code, Operation *op) {
  Value divisor = op->getOperand(1);
  if (isPositive(divisor))
    return code.name(divisor);
  TypedAttr zero = IntegerAttr::get(divisor.getType(), 0),
            one = IntegerAttr::get(divisor.getType(), 1);
  std::string isZero = code.fresh(code.plainName(op->getResult(0)) + "_by_zero"),
              guarded = code.fresh(code.plainName(op->getResult(0)) + "_divisor");
  code.line(op, isZero + " = arith.cmpi eq, " + code.name(divisor) + ", " + code.constant(zero) +
                    " : " + code.typeOf(divisor));
  code.line(op, guarded + " = arith.select " + isZero + ", " + code.constant(one) + ", " +
                    code.name(divisor) + " : " + code.typeOf(divisor));
  return guarded;
}

void emitScalar(PtoCode &code, Operation *op) {
  // PTOAS has `index` as 32 bits and no cast between it and integers of that width.
  auto cast = dyn_cast<arith::IndexCastOp>(op);
  if (cast && cast.getIn().getType().isIndex() && cast.getType().isInteger() &&
      cast.getType().getIntOrFloatBitWidth() < 64) {
    std::string wide = code.fresh("position_i64");
    code.line(op, wide + " = arith.index_cast " + code.name(cast.getIn()) + " : index to i64");
    code.line(op, code.result(op) + "arith.trunci " + wide + " : i64 to " +
                      code.typeOf(op->getResult(0)));
    return;
  }
  if (cast && cast.getType().isIndex() && cast.getIn().getType().getIntOrFloatBitWidth() < 64) {
    std::string wide = code.fresh("number_i64");
    code.line(op, wide + " = arith.extsi " + code.name(cast.getIn()) + " : " +
                      code.typeOf(cast.getIn()) + " to i64");
    code.line(op, code.result(op) + "arith.index_cast " + wide + " : i64 to index");
    return;
  }
  unsigned width = isa<arith::ShRUIOp>(op) && op->getResult(0).getType().isInteger()
                       ? op->getResult(0).getType().getIntOrFloatBitWidth()
                       : 64;
  if (width < 64) { // PTOAS casts to a signed number before it shifts; no sign, no difference
    std::string to = "i" + std::to_string(2 * width), from = code.typeOf(op->getResult(0));
    std::string wide[3];
    // The three names are those of both operands and of the shifted number.
    for (std::string &each : wide)
      each = code.fresh(code.plainName(op->getResult(0)) + "_wide");
    for (unsigned i : {0u, 1u})
      code.line(op, wide[i] + " = arith.extui " + code.name(op->getOperand(i)) + " : " + from +
                        " to " + to);
    code.line(op, wide[2] + " = arith.shrui " + wide[0] + ", " + wide[1] + " : " + to);
    return code.line(op, code.result(op) + "arith.trunci " + wide[2] + " : " + to + " to " + from);
  }
  if (isa<arith::AddFOp>(op)) { // PTOAS has no form for it; the other way round it is the same
    std::string negated = code.fresh(code.plainName(op->getResult(0)) + "_minus");
    code.line(op, negated + " = arith.negf " + code.name(op->getOperand(1)) + " : " +
                      code.typeOf(op->getOperand(1)));
    return code.line(op, code.result(op) + "arith.subf " + code.name(op->getOperand(0)) + ", " +
                             negated + " : " + code.typeOf(op->getResult(0)));
  }
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op)) {
    std::string divisor = guardedDivisor(code, op);
    return code.line(op, code.result(op) + op->getName().getStringRef().str() + " " +
                             code.name(op->getOperand(0)) + ", " + divisor + " : " +
                             code.typeOf(op->getResult(0)));
  }
  std::string head = code.result(op) + op->getName().getStringRef().str() + " ";
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return code.line(op, head + arith::stringifyCmpIPredicate(compare.getPredicate()).str() + ", " +
                             code.names(op->getOperands()) + " : " + code.typeOf(compare.getLhs()));
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return code.line(op, head + arith::stringifyCmpFPredicate(compare.getPredicate()).str() + ", " +
                             code.names(op->getOperands()) + " : " + code.typeOf(compare.getLhs()));
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect())) {
    code.missing(op, "PTOAS has no `" + op->getName().getStringRef().str() + "`");
    return code.line(op, head + code.names(op->getOperands()) + " : " +
                             code.typed(op->getOperands()) + " -> " + code.typed(op->getResults()));
  }
  // A cast names both types, other arithmetic names one.
  bool converts =
      op->getNumOperands() == 1 && op->getOperand(0).getType() != op->getResult(0).getType();
  code.line(op, head + code.names(op->getOperands()) + " : " +
                    (converts ? code.typeOf(op->getOperand(0)) + " to " : std::string()) +
                    code.typeOf(op->getResult(0)));
}

} // namespace ptl::pto
