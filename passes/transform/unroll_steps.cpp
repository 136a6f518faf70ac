#include "passes/transform/unroll_steps.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/shared_box.h"

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

/// The rows of a box of an array in global memory that begins a row later in each round of a loop, and has so many that most of them come in
/// several rounds; 0: it is another one.
static int64_t rowsOfRound(SliceOp slice, scf::ForOp loop) {
  constexpr int64_t kFewestRows = 4;
  auto type = dyn_cast<ArrayType>(slice.getType());
  if (!type || type.getRank() != 2 || type.getElementType().isInteger(1) ||
      !slice.getSteps().empty() ||
      cast<ArrayType>(slice.getSource().getType()).getPlace() != Place::Gm)
    return 0;
  int64_t rows = type.getExtents()[0].capacity;
  if (rows < kFewestRows || !bytesOfRows(type, rows))
    return 0;
  size_t axis = 0;
  while (llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis)))
    ++axis;
  return isSumWith(slice.getOffsets()[axis], loop.getInductionVar()) ? rows : 0;
}

namespace {
/// What the rounds of a loop, and of all loops in it, come to if they are copied.
struct Copies {
  int64_t rounds = 1, operations = 0;
  bool isPlain = true;
  llvm::SmallVector<std::pair<Type, int64_t>> boxes; ///< that have rows in common, and how many
};
} // namespace

static Copies copiesOf(scf::ForOp outer, const UnrollLimits &limits) {
  Copies all;
  outer->walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<int64_t> rounds = roundsOf(loop);
      all.isPlain &= rounds && *rounds <= limits.rounds &&
                     loop->getDiscardableAttrDictionary().empty() && !handsOnOutside(loop);
      all.rounds = std::min(all.rounds * rounds.value_or(limits.operations), limits.operations);
    } else if (!op->hasTrait<OpTrait::IsTerminator>()) {
      all.isPlain &= isStep(op);
      ++all.operations;
    }
    if (auto slice = dyn_cast<SliceOp>(op))
      if (int64_t rows = rowsOfRound(slice, outer))
        all.boxes.push_back({slice.getType(), rows});
  });
  return all;
}

/// Whether what rounds have in common has room on chip: of few rounds with small boxes always; else all of them are counted, as they are when
/// they share rows.
static bool haveRoom(const Copies &all, int64_t outerRounds) {
  constexpr int64_t kFewRounds = 16, kFewBytes = 16 * 1024;
  bool areSmall =
      all.rounds <= kFewRounds && llvm::any_of(all.boxes, [&](const std::pair<Type, int64_t> &box) {
        return *bytesOfRows(box.first, box.second) <= kFewBytes;
      });
  int64_t together = 0;
  for (auto [type, rows] : all.boxes)
    together += *computedBytesOfRows(type, rows + outerRounds - 1) * (all.rounds / outerRounds);
  return areSmall || together <= kMostBytesTogether;
}

/// Whether a loop of a kernel, with all loops in it, is short and computes elements from boxes with common rows. Loops with modifiers stay as
/// their author wants them.
static bool isStencil(scf::ForOp outer, const UnrollLimits &limits) {
  constexpr int64_t kMostRounds = 32;
  Copies all = copiesOf(outer, limits);
  return all.isPlain && !all.boxes.empty() && all.rounds <= kMostRounds &&
         all.operations * all.rounds <= limits.operations && haveRoom(all, *roundsOf(outer));
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
