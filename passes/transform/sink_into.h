// Operations that only one branch needs.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ptl::ir {

/// Moves what makes `value` into `block`, a branch behind it, where only operations of that branch use it, and what only this needed with it.
inline void sinkInto(mlir::Value value, mlir::Block *block) {
  mlir::Operation *op = value.getDefiningOp();
  bool moves = op && mlir::isPure(op) && op->getNumRegions() == 0 && op->getBlock() != block &&
               llvm::all_of(op->getUsers(), [&](mlir::Operation *user) {
                 return block->getParent()->isAncestor(user->getParentRegion());
               });
  if (!moves)
    return;
  op->moveBefore(block, block->begin());
  for (mlir::Value operand : op->getOperands())
    sinkInto(operand, block);
}

} // namespace ptl::ir
