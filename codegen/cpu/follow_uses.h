// A walk along def-use chains, from a value to what is computed from it.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseSet.h"

namespace ptl::cpu {

/// Calls `visit` with each user of `value`, and of the values that `visit` appends to its second
/// argument. Each value is followed once. Stops and returns false as soon as `visit` returns false.
template <typename F> bool followUses(mlir::Value value, F visit) {
  llvm::SmallVector<mlir::Value> work = {value};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (mlir::Operation *user : next.getUsers())
      if (!visit(user, work))
        return false;
  }
  return true;
}

} // namespace ptl::cpu
