#include "codegen/cpu/one_pass.h"

#include "codegen/cpu/lower_elementwise.h"

using namespace mlir;

namespace ptl::cpu {

// Whether an operation reads its operands at the position of the element that it computes, as far as their extents are those of its
// result.
static bool staysInPlace(Operation *op) {
  return op->getNumResults() == 1 && arrayType(op->getResult(0)) &&
         (isElementwise(op) || isa<ir::CastOp>(op));
}

// Whether the result of `read` has the extents of the operand, so that no element is read at several positions.
static bool readsAlike(Operation *read, Value operand) {
  auto type = arrayType(read->getResult(0)), own = arrayType(operand);
  return type.getRank() == own.getRank() &&
         (isa<ir::CastOp>(read) || type.getExtents() == own.getExtents());
}

// An operation from which on an element takes so long that to store and to load it is nothing beside it. Loops that compute many of
// these at once run out of registers for their constants.
static constexpr int64_t kLongOperation = 12;

// The shared ones that take long are computed by loops of their own.
void OnePass::leaveLongOnes(ArrayRef<Operation *> ordered,
                            const llvm::DenseSet<Operation *> &roots) {
  llvm::DenseSet<Operation *> takeLong;
  for (Operation *op : ordered) {
    if (!operations.contains(op))
      continue;
    bool isLong =
        costOfOp(op) >= kLongOperation || llvm::any_of(op->getOperands(), [&](Value operand) {
          return takeLong.contains(operand.getDefiningOp());
        });
    if (isLong && !op->hasOneUse() && !roots.contains(op))
      operations.erase(op);
    else if (isLong)
      takeLong.insert(op);
  }
}

OnePass::OnePass(Lowering &l, ValueRange arrays) {
  SmallVector<Operation *> met;
  llvm::DenseSet<Operation *> roots, seen;
  auto meet = [&](Value array) {
    Operation *op = array.getDefiningOp();
    bool isMet = op && staysInPlace(op) && !l.views.count(array) &&
                 (met.empty() || op->getBlock() == met.front()->getBlock());
    if (isMet && seen.insert(op).second)
      met.push_back(op);
    return isMet;
  };
  for (Value array : arrays)
    if (meet(array))
      roots.insert(array.getDefiningOp());
  for (size_t i = 0; i < met.size(); ++i)
    for (Value operand : met[i]->getOperands())
      meet(operand);
  llvm::sort(met, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // What is met has to be judged after all that reads it, which comes later in the block.
  for (Operation *op : llvm::reverse(met))
    if (roots.contains(op) || llvm::all_of(op->getUsers(), [&](Operation *user) {
          return operations.contains(user) && readsAlike(user, op->getResult(0));
        }))
      operations.insert(op);
  leaveLongOnes(met, roots);
}

OnePass OnePass::reading(Lowering &l, Value array) {
  OnePass pass(l, array);
  pass.operations.erase(array.getDefiningOp());
  return pass;
}

} // namespace ptl::cpu
