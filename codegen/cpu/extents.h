// The extents of arrays as index values of the emitted code.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Computes the extents of an operation's array results from its type, operands and attributes.
void defineExtents(Lowering &l, mlir::Operation *op);
/// The extents of an array that has been defined or materialised.
Values extentsOf(Lowering &l, mlir::Value array);
inline mlir::Value lengthOf(Lowering &l, mlir::Value array, int64_t axis) {
  return extentsOf(l, array)[axis];
}

} // namespace ptl::cpu
