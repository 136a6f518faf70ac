// What instructions of the compiler do by what the tile level says: a witness of what buffers hold
// and of what comes first, which a judge can hold against the bytes and the order.
#pragma once

#include "ir/dialect/attributes.h"

#include "mlir/IR/Builders.h"

namespace ptl::pto {

/// What `ptl.held` says of each operand of an instruction; nothing if nobody knows. The attribute
/// has, for each of its operands, a number and that many values. Of an operand that
/// is read: any of them may be what it reads, because loops and branches hand values on and
/// because a part may have been left as it was. Of one that is written: the value of which it
/// becomes a part. Operands with no value are known to nobody. Values are numbered in each
/// function, from 1. Instructions that are written by hand have no such attribute.
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
