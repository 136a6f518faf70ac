#include "passes/transform/unroll_steps.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// MLIR's function knows no values from outside of the loop among those that a round hands on.
static bool handsOnOutside(scf::ForOp loop) {
  return llvm::any_of(loop.getYieldedValues(),
                      [&](Value value) { return loop.isDefinedOutsideOfLoop(value); });
}

static bool mayUnroll(scf::ForOp loop, const UnrollLimits &limits) {
  std::optional<int64_t> rounds = roundsOf(loop);
  if (!rounds || *rounds > limits.rounds || loop->getParentOfType<ParallelOp>() ||
      !llvm::any_of(loop.getResultTypes(), [](Type type) { return isa<ArrayType>(type); }))
    return false;
  if (handsOnOutside(loop))
    return false;
  int64_t operations = 0;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isStep(&op) || ++operations * *rounds > limits.operations)
      return false;
  return true;
}

/// Whether a position is another one and something that is added to it.
static bool isSumWith(Value position, Value part) {
  if (position == part)
    return true;
  if (auto sum = position.getDefiningOp<arith::AddIOp>())
    return isSumWith(sum.getLhs(), part) || isSumWith(sum.getRhs(), part);
  auto rest = position.getDefiningOp<arith::SubIOp>();
  return rest && isSumWith(rest.getLhs(), part);
}

/// Whether a box of an array in global memory begins a row later in each round of a loop, and has so many rows that most of them come in
/// several rounds, and so few that boxes of all rounds have room on chip.
static bool isRowOfRound(SliceOp slice, scf::ForOp loop) {
  constexpr int64_t kMostBytes = 16 * 1024, kFewestRows = 4;
  auto type = dyn_cast<ArrayType>(slice.getType());
  if (!type || type.getRank() != 2 || type.getElementType().isInteger(1) ||
      !slice.getSteps().empty() ||
      cast<ArrayType>(slice.getSource().getType()).getPlace() != Place::Gm)
    return false;
  const Extent &rows = type.getExtents()[0], &cols = type.getExtents()[1];
  if (rows.capacity < kFewestRows || cols.capacity == Extent::kUnknown ||
      rows.capacity * cols.capacity * type.getElementType().getIntOrFloatBitWidth() / 8 >
          kMostBytes)
    return false;
  size_t axis = 0;
  while (llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis)))
    ++axis;
  return isSumWith(slice.getOffsets()[axis], loop.getInductionVar());
}

/// Whether a loop of a kernel, with all loops in it, is short and computes elements from boxes with common rows. Loops with modifiers stay as
/// their author wants them.
static bool isStencil(scf::ForOp outer, const UnrollLimits &limits) {
  constexpr int64_t kMostCopies = 16;
  int64_t copies = 1, operations = 0;
  bool isPlain = true, hasRows = false;
  outer->walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<int64_t> rounds = roundsOf(loop);
      isPlain &= rounds && *rounds <= limits.rounds &&
                 loop->getDiscardableAttrDictionary().empty() && !handsOnOutside(loop);
      copies *= rounds.value_or(kMostCopies + 1);
      copies = std::min(copies, kMostCopies + 1);
    } else if (!op->hasTrait<OpTrait::IsTerminator>()) {
      isPlain &= isStep(op);
      ++operations;
    }
    if (auto slice = dyn_cast<SliceOp>(op))
      hasRows |= isRowOfRound(slice, outer);
  });
  return isPlain && hasRows && copies <= kMostCopies && operations * copies <= limits.operations;
}

void unrollStencils(func::FuncOp function, const UnrollLimits &limits) {
  llvm::SmallVector<scf::ForOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!loop->getParentOfType<ParallelOp>() || !isStencil(loop, limits))
      return WalkResult::advance();
    // Inner loops come first.
    loop->walk([&](scf::ForOp inner) { loops.push_back(inner); });
    return WalkResult::skip();
  });
  for (scf::ForOp loop : loops)
    (void)loopUnrollByFactor(loop, static_cast<uint64_t>(*roundsOf(loop)));
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
