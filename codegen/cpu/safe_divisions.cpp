#include "codegen/cpu/safe_divisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ptl::cpu {

/// Whether a divisor is at least 1 by what computes it.
static bool isPositive(Value divisor) {
  if (std::optional<int64_t> number = getConstantIntValue(divisor))
    return *number > 0;
  Operation *op = divisor.getDefiningOp();
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return isPositive(op->getOperand(0)) || isPositive(op->getOperand(1));
  return isa_and_nonnull<arith::MinSIOp>(op) && isPositive(op->getOperand(0)) &&
         isPositive(op->getOperand(1));
}

static void makeSafe(Operation *division) {
  OpBuilder b(division);
  Location loc = division->getLoc();
  Value dividend = division->getOperand(0), divisor = division->getOperand(1);
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0);
  Value one = b.create<arith::ConstantIndexOp>(loc, 1);
  // By -1 nothing is divided: 0 and -1 are the divisors that are less than 2 when 1 is added.
  Value next = b.create<arith::AddIOp>(loc, divisor, one);
  Value two = b.create<arith::ConstantIndexOp>(loc, 2);
  Value isBad = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, next, two);
  division->setOperand(1, b.create<arith::SelectOp>(loc, isBad, one, divisor));
  b.setInsertionPointAfter(division);
  Value isNegated = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, next, zero);
  Value negated = b.create<arith::SubIOp>(loc, zero, dividend);
  Value quotient = division->getResult(0);
  auto choice = b.create<arith::SelectOp>(loc, isNegated, negated, quotient);
  quotient.replaceAllUsesExcept(choice, choice);
}

void makeDivisionsSafe(ModuleOp module) {
  llvm::SmallVector<Operation *> divisions;
  module.walk([&](Operation *op) {
    // The language's divisions of positions are these; others are made by the compiler, which
    // divides by what it knows.
    if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op) && op->getResult(0).getType().isIndex() &&
        !isPositive(op->getOperand(1)))
      divisions.push_back(op);
  });
  for (Operation *division : divisions)
    makeSafe(division);
}

} // namespace ptl::cpu
