// Checks that come out the same in every round of a loop or point of a grid are made once, before
// it: kernels of chips then need no trap for them, and the rounds of a loop can be staged.
#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace ptl::ir {
#define GEN_PASS_DEF_HOISTCHECKS
#include "passes/passes.h.inc"
} // namespace ptl::ir

using namespace mlir;

namespace ptl::ir {
namespace {

/// Collects, in order, what has to be moved for `value` to be known before the loop; false if it
/// cannot be.
bool collectInvariant(Value value, Operation *loop, llvm::SetVector<Operation *> &moved) {
  // A value from outside of the loop is known before it.
  if (!loop->isProperAncestor(value.getParentBlock()->getParentOp()) &&
      value.getParentBlock()->getParentOp() != loop)
    return true;
  Operation *op = value.getDefiningOp();
  // An argument of the loop has no definition and changes in each round.
  if (!op || moved.contains(op))
    return op != nullptr;
  bool isScalar = llvm::all_of(op->getResultTypes(), [](Type type) {
    return type.isIntOrIndexOrFloat() && !isa<ArrayType>(type);
  });
  // What is moved may run although the loop has no round, so it must be safe to run at any time.
  if (!isScalar || op->getNumRegions() != 0 || !isMemoryEffectFree(op) || !isSpeculatable(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectInvariant(operand, loop, moved))
      return false;
  moved.insert(op);
  return true;
}

/// What is seen in the order in which it happens.
bool isObserved(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<CheckOp, PrintOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the loop has a round at all; null where it is known to.
Value hasRounds(OpBuilder &b, Location loc, ValueRange lower, ValueRange upper) {
  Value all;
  for (auto [from, to] : llvm::zip(lower, upper)) {
    APInt first, end;
    if (matchPattern(from, m_ConstantInt(&first)) && matchPattern(to, m_ConstantInt(&end)) &&
        first.slt(end))
      continue;
    Value some = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, from, to);
    all = all ? b.create<arith::AndIOp>(loc, all, some).getResult() : some;
  }
  return all;
}

void hoistFrom(Operation *loop, Block &body, ValueRange lower, ValueRange upper) {
  OpBuilder b(loop);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    auto check = dyn_cast<CheckOp>(op);
    if (!check) {
      // Prints and checks are seen in their order, so no later check may pass this one.
      if (isObserved(&op))
        return;
      continue;
    }
    llvm::SetVector<Operation *> moved;
    // A check that has to stay keeps all later ones behind it.
    for (Value operand : check->getOperands())
      if (!collectInvariant(operand, loop, moved))
        return;
    for (Operation *each : moved)
      each->moveBefore(loop);
    check->moveBefore(loop);
    b.setInsertionPoint(check);
    Location loc = check.getLoc();
    // In a loop without rounds the check would never have been made, so it must not fail then.
    if (Value some = hasRounds(b, loc, lower, upper)) {
      Value none = b.create<arith::XOrIOp>(loc, some, b.create<arith::ConstantIntOp>(loc, 1, 1));
      check.getConditionMutable().assign(
          b.create<arith::OrIOp>(loc, none, check.getCondition()).getResult());
    }
  }
}

struct HoistChecks : impl::HoistChecksBase<HoistChecks> {
  void runOnOperation() override {
    // Inner loops first: their checks may go on.
    getOperation().walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        hoistFrom(loop, *loop.getBody(), loop.getLowerBound(), loop.getUpperBound());
      else if (auto grid = dyn_cast<ParallelOp>(op); grid && !attrs::manual.isOn(grid))
        hoistFrom(grid, grid.getBody().front(), grid.getLower(), grid.getUpper());
    });
  }
};

} // namespace
} // namespace ptl::ir
