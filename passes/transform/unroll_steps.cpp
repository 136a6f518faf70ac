#include "passes/transform/unroll_steps.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::ir {

static std::optional<int64_t> roundsOf(scf::ForOp loop) {
  std::optional<int64_t> rounds =
      constantTripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  return rounds && *rounds > 0 ? rounds : std::nullopt;
}

/// Whether an operation may be a step of a grid: elements from elements at the same place, or at another one. Boxes ask for lengths.
static bool isStep(Operation *op) {
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) || isScheduled(op) || isInSchedule(op))
    return false;
  auto isArray = [](Type type) { return isa<ArrayType>(type); };
  bool hasArrays =
      llvm::any_of(op->getOperandTypes(), isArray) || llvm::any_of(op->getResultTypes(), isArray);
  return !hasArrays || isElementwise(op) || isView(op) || isFill(op) || isa<SliceOp, DimOp>(op);
}

static bool mayUnroll(scf::ForOp loop, const UnrollLimits &limits) {
  std::optional<int64_t> rounds = roundsOf(loop);
  if (!rounds || *rounds > limits.rounds || loop->getParentOfType<ParallelOp>() ||
      !llvm::any_of(loop.getResultTypes(), [](Type type) { return isa<ArrayType>(type); }))
    return false;
  // MLIR's function knows no values from outside of the loop among those that a round hands on.
  if (llvm::any_of(loop.getYieldedValues(),
                   [&](Value value) { return loop.isDefinedOutsideOfLoop(value); }))
    return false;
  int64_t operations = 0;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isStep(&op) || ++operations * *rounds > limits.operations)
      return false;
  return true;
}

void unrollSteps(func::FuncOp function, const UnrollLimits &limits) {
  llvm::SmallVector<scf::ForOp> loops;
  // Inner loops come first: once they are unrolled the outer ones may consist of steps alone.
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (mayUnroll(loop, limits))
      // It leaves a loop of one round, and removes that.
      (void)loopUnrollByFactor(loop, static_cast<uint64_t>(*roundsOf(loop)));
}

} // namespace ptl::ir
