#include "passes/analysis/value_liveness.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

static bool isReader(Operation *user) { return !isa<DimOp>(user); }

bool isReadInside(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isReader(user) && op->isProperAncestor(user);
  });
}

bool isReadAfter(Value value, Operation *op) {
  Block *home = value.getParentBlock();
  // A value that was made in a region which has ended is made again before it is read again.
  if (!home->getParent()->isAncestor(op->getParentRegion()))
    return false;
  // Each round looks at one block, from the innermost outwards.
  for (Operation *at = op;; at = at->getParentOp()) {
    Block *block = at->getBlock();
    for (Operation *user : value.getUsers()) {
      Operation *here = isReader(user) ? block->findAncestorOpInBlock(*user) : nullptr;
      if (here && at->isBeforeInBlock(here))
        return true;
    }
    // Beyond its own block nobody can use the value.
    if (block == home)
      return false;
    // A branch has no back edge.
    Operation *around = block->getParentOp();
    if (!isa<scf::IfOp>(around) && isReadInside(value, around))
      return true;
  }
}

} // namespace ptl::ir
