// Describes instructions that the compiler generated in terms of the tile level: a witness of which
// value each buffer holds and of the order of accesses, which the prover compares with the bytes
// and the order.
#pragma once

#include "ir/dialect/attributes.h"

#include "mlir/IR/Builders.h"

namespace ptl::pto {

/// The attribute `ptl.held` of an instruction, for each operand; nothing if it is absent. For each
/// operand it has a count and that many values. For an operand that is read: it may hold any of
/// these, because loops and branches pass values on, and because a part may have been left
/// unchanged. For one that is written: the value of which it becomes a part. No values: unknown.
/// Values are numbered in each function, from 1. Instructions written by hand have no such
/// attribute.
inline llvm::SmallVector<llvm::ArrayRef<int32_t>> heldValues(mlir::Operation *op) {
  llvm::SmallVector<llvm::ArrayRef<int32_t>> held;
  auto attribute = attrs::held.of(op);
  if (!attribute)
    return held;
  for (llvm::ArrayRef<int32_t> rest = attribute.asArrayRef(); !rest.empty();) {
    size_t count = std::min(static_cast<size_t>(rest[0]), rest.size() - 1);
    held.push_back(rest.slice(1, count));
    rest = rest.drop_front(1 + count);
  }
  return held;
}

} // namespace ptl::pto
