#include "codegen/cpu/fold_together.h"

#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/storage.h"
#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::cpu {

// More partial results, and what each is computed from, would not stay in registers.
static constexpr size_t kMostFolds = 4;
// Values that are looked at: what takes more steps takes longer than memory.
static constexpr size_t kMostLookedAt = 32;

namespace {
/// What an operand is computed from, as far as that is pending in its block.
struct Sources {
  Sources(Lowering &l, Operation *fold);
  llvm::SmallPtrSet<Operation *, 16> pending;
  llvm::SmallPtrSet<void *, 4> arrays; ///< with all elements, in memory
  bool isComplete = true;
};
} // namespace

Sources::Sources(Lowering &l, Operation *fold) {
  auto extents = arrayType(fold->getOperand(0)).getExtents();
  SmallVector<Value> left = {fold->getOperand(0)};
  while (!left.empty() && isComplete) {
    Value value = left.pop_back_val();
    auto type = arrayType(value);
    Operation *op = value.getDefiningOp();
    bool isStored =
        !op || op->getBlock() != fold->getBlock() || isScalar(value) || viewOf(l, value);
    if (isStored) {
      if (type && type.getExtents() == extents)
        arrays.insert(value.getAsOpaquePointer());
      continue;
    }
    if (!pending.insert(op).second)
      continue;
    isComplete = pending.size() <= kMostLookedAt;
    llvm::append_range(left, op->getOperands());
  }
}

// Whether a reduction is pending, and what it folds is not stored for other uses in its pass (`placeOfShared`), which then is that of one fold.
static bool mayShare(Lowering &l, Operation *op) {
  const OpRecord *record = ir::recordOf(op);
  if (!record || record->opClass != OpClass::Reduction || !ir::loweringOf(op)->combiner ||
      isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op) || op->use_empty() ||
      op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0), operand = op->getOperand(0);
  if (!arrayType(result) || !arrayType(operand) || l.views.count(result) || !l.costs.count(result))
    return false;
  Operation *made = operand.getDefiningOp();
  return viewOf(l, operand) || (made && isElementwise(made) &&
                                (operand.hasOneUse() || costOf(l, operand) < kCostlyToRepeat));
}

static bool foldAlike(Operation *a, Operation *b) {
  return arrayType(a->getOperand(0)).getExtents() == arrayType(b->getOperand(0)).getExtents() &&
         ir::reducedAxesOf(a) == ir::reducedAxesOf(b);
}

// The reduction and those that one pass computes with it.
static SmallVector<Operation *> foldsWith(Lowering &l, Operation *first) {
  SmallVector<Operation *> folds = {first};
  SmallVector<Sources> sources = {Sources(l, first)};
  if (!sources.front().isComplete)
    return folds;
  for (Operation &op : *first->getBlock()) {
    if (folds.size() == kMostFolds)
      break;
    if (&op == first || !mayShare(l, &op) || !foldAlike(first, &op))
      continue;
    Sources own(l, &op);
    bool readsTheSame = llvm::any_of(
        own.arrays, [&](void *array) { return sources.front().arrays.contains(array); });
    bool isIndependent = llvm::all_of(llvm::zip(folds, sources), [&](auto pair) {
      auto &[other, its] = pair;
      return !own.pending.contains(other) && !its.pending.contains(&op);
    });
    if (own.isComplete && readsTheSame && isIndependent) {
      folds.push_back(&op);
      sources.push_back(std::move(own));
    }
  }
  return folds;
}

bool foldTogether(Lowering &l, Operation *op) {
  // The code of a program computes arrays as tasks, each of which has one result.
  if (l.isOrchestrating() || !mayShare(l, op))
    return false;
  SmallVector<Operation *> folds = foldsWith(l, op);
  if (folds.size() == 1)
    return false;
  for (Operation *fold : folds)
    prepare(l, fold->getOperand(0));
  // A fold that an operand needed may have taken others into its pass.
  llvm::erase_if(folds, [&](Operation *fold) { return l.views.count(fold->getResult(0)) != 0; });
  if (l.views.count(op->getResult(0)))
    return true;
  if (folds.size() == 1)
    return false;
  SmallVector<View> dests;
  for (Operation *fold : folds) {
    Value result = fold->getResult(0);
    dests.push_back(allocate(l, arrayType(result).getElementType(), extentsOf(l, result)));
  }
  if (!reduceTogether(l, folds, dests))
    return false;
  for (auto [fold, dest] : llvm::zip(folds, dests))
    l.bindView(fold->getResult(0), dest);
  return true;
}

void foldStored(Lowering &l, Value stored) {
  while (auto slice = stored.getDefiningOp<ir::SliceOp>())
    stored = slice.getSource();
  Operation *op = stored.getDefiningOp();
  if (op && arrayType(stored) && !viewOf(l, stored))
    foldTogether(l, op);
}

} // namespace ptl::cpu
