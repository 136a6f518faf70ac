#include "passes/transform/softmax_parts.h"

#include "passes/analysis/op_kinds.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {

/// Whether the only axis that is folded is the last of two or more.
static bool foldsColumns(Operation *op) {
  auto rank = static_cast<int64_t>(extentsOf(op->getOperand(0).getType()).size());
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op);
  return rank >= 2 && axes.size() == 1 && axes.front() == rank - 1;
}

/// From the product back to the scores.
bool SoftmaxParts::findWeights() {
  Value weights = product.getOperand(0);
  // A value that is both factors would be needed whole.
  if (product.getOperand(1) == weights)
    return false;
  // Conversions between the exponentials and the product are done again for each block.
  while (auto conversion = weights.getDefiningOp<ConvertOp>()) {
    if (!weights.hasOneUse() || !isa<FloatType>(elementTypeOf(weights.getType())))
      return false;
    conversions.insert(conversions.begin(), conversion);
    weights = conversion->getOperand(0);
  }
  quotient = weights.getDefiningOp<DivOp>();
  // A quotient that something else uses needs whole rows.
  if (quotient && !weights.hasOneUse())
    return false;
  Value exponentials = quotient ? quotient->getOperand(0) : weights;
  exponential = exponentials.getDefiningOp();
  if (!exponential || !isa<ExpOp, Exp2Op>(exponential))
    return false;
  difference = exponential->getOperand(0).getDefiningOp<SubOp>();
  if (!difference || !difference->hasOneUse())
    return false;
  scores = difference->getOperand(0);
  maximum = difference->getOperand(1).getDefiningOp<ReduceMaxOp>();
  return maximum && maximum->hasOneUse() && maximum->getOperand(0) == scores &&
         foldsColumns(maximum);
}

/// Nothing else needs whole rows.
bool SoftmaxParts::usersSuit() {
  Value exponentials = exponential->getResult(0);
  // Of several sums, the first is taken, and the others make the match fail below.
  for (Operation *user : exponentials.getUsers())
    if (auto found = dyn_cast<ReduceSumOp>(user); found && !sum)
      sum = found;
  if (!sum || !foldsColumns(sum))
    return false;
  // The division has to be by this sum, and nothing else may use it.
  if (quotient && (quotient->getOperand(1) != sum->getResult(0) || !sum->hasOneUse()))
    return false;
  Operation *weighed = quotient              ? quotient.getOperation()
                       : conversions.empty() ? product.getOperation()
                                             : conversions.front().getOperation();
  auto isKnown = [&](Operation *user) { return user == sum || user == weighed; };
  auto isOfScores = [&](Operation *user) { return user == maximum || user == difference; };
  if (!llvm::all_of(exponentials.getUsers(), isKnown) ||
      !llvm::all_of(scores.getUsers(), isOfScores))
    return false;
  llvm::SmallVector<Operation *> chain{maximum, sum, difference, exponential};
  if (quotient)
    chain.push_back(quotient);
  chain.append(conversions.begin(), conversions.end());
  Block *own = product->getBlock();
  if (llvm::any_of(chain, [&](Operation *op) { return op->getBlock() != own; }))
    return false;
  // What takes their place stands behind both.
  last = product->isBeforeInBlock(sum) ? sum.getOperation() : product.getOperation();
  auto isBehind = [&](Operation *user) {
    Operation *inBlock = own->findAncestorOpInBlock(*user);
    return inBlock && last->isBeforeInBlock(inBlock);
  };
  return llvm::all_of(product->getUsers(), isBehind) &&
         (quotient || llvm::all_of(sum->getUsers(), isBehind));
}

void moveWhatOnlyItNeeds(Operation *last, Block *arm) {
  // Operations are visited backwards, so that users move before what they use.
  Operation *op = last;
  while (op) {
    Operation *before = op->getPrevNode();
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return !arm->findAncestorOpInBlock(*user); });
    if (op == last ||
        (!op->use_empty() && !isNeeded && op->getNumRegions() == 0 && isMemoryEffectFree(op)))
      op->moveBefore(arm, arm->begin());
    op = before;
  }
}

} // namespace ptl::ir
