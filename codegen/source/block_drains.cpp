#include "codegen/source/block_drains.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/instruction_op.h"
#include "passes/analysis/left_over.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::source {

/// A branch that does nothing but wait for what is left over.
static bool isDrain(scf::IfOp branch) {
  if (branch->getNumResults() > 0 || !branch.getElseRegion().empty())
    return false;
  auto inside = branch.thenBlock()->without_terminator();
  return !inside.empty() && llvm::all_of(inside, [](Operation &op) {
    auto why = attrs::why.of(&op);
    return isa<pto::WaitFlagOp>(op) && why && why.getValue() == ir::kLeftOver;
  });
}

namespace {

/// Which values something depends on that is done. What loops carry for themselves alone is not
/// among them, though each round uses it.
class Needed {
public:
  explicit Needed(func::FuncOp function) {
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        needAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        need(branch.getCondition());
      else if (auto condition = dyn_cast<scf::ConditionOp>(op))
        need(condition.getCondition());
      else if (!isa<scf::YieldOp, scf::WhileOp>(op) &&
               (!isPure(op) || op->hasTrait<OpTrait::IsTerminator>()))
        needAll(op->getOperands());
    });
    while (!work_.empty())
      follow(work_.pop_back_val());
  }
  bool has(Value value) const { return found_.contains(value); }

private:
  void need(Value value) {
    if (found_.insert(value).second)
      work_.push_back(value);
  }
  void needAll(ValueRange values) {
    for (Value value : values)
      need(value);
  }
  void follow(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (argument && number-- == 0) // the loop's variable
        return;
      needAll({loop.getInits()[number], loop.getYieldedValues()[number],
               loop.getRegionIterArg(number)});
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (argument && argument.getOwner() == loop.getBeforeBody())
        needAll({loop.getInits()[number], loop.getYieldOp().getOperand(number)});
      else
        need(loop.getConditionOp().getArgs()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      needAll({branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)});
    } else if (!argument) {
      needAll(op->getOperands());
    }
  }

  llvm::DenseSet<Value> found_;
  llvm::SmallVector<Value> work_;
};

} // namespace

/// What loops carry for themselves alone is left as it is by each round, so that it can be dropped.
static void stopCarrying(func::FuncOp function) {
  Needed needed(function);
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (!needed.has(argument))
          loop.getBody()->getTerminator()->setOperand(static_cast<unsigned>(number), argument);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [before, after] : llvm::zip(loop.getBeforeArguments(), loop.getAfterArguments())) {
        unsigned number = before.getArgNumber();
        if (needed.has(before) || needed.has(after) || before.getType() != after.getType())
          continue;
        loop.getConditionOp().getArgsMutable()[number].set(before);
        loop.getYieldOp()->setOperand(number, after);
      }
    }
  });
}

/// Each round of a loop is a point of the grid, of which a core group does every so many: as a loop
/// over all of them, which is dealt to core groups where it is read, and gets the barrier at the end of
/// each.
static void overAllPoints(scf::ForOp points) {
  OpBuilder b(points);
  if (auto barrier =
          dyn_cast_or_null<pto::BarrierOp>(points.getBody()->getTerminator()->getPrevNode()))
    barrier.erase();
  attrs::point.set(points);
  points.setLowerBound(b.create<arith::ConstantIndexOp>(points.getLoc(), 0));
  points.setStep(b.create<arith::ConstantIndexOp>(points.getLoc(), 1));
}

void removeDrains(func::FuncOp function) {
  llvm::SmallVector<scf::IfOp> drains;
  function.walk([&](scf::IfOp branch) {
    if (isDrain(branch))
      drains.push_back(branch);
  });
  if (drains.empty())
    return;
  llvm::SetVector<scf::ForOp> grids;
  for (scf::IfOp branch : drains) {
    if (auto points = dyn_cast<scf::ForOp>(branch->getParentOp()))
      grids.insert(points);
    branch.erase();
  }
  llvm::for_each(grids, overAllPoints);
  stopCarrying(function);
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::WhileOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyPatternsAndFoldGreedily(function, std::move(patterns));
}

} // namespace ptl::source
