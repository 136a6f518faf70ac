// The extents of arrays as index values of the code that is made.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Finds the extents of the arrays that an operation gives, from its type, operands and attributes.
void defineExtents(Lowering &l, mlir::Operation *op);
/// The extents of an array that is defined or materialised.
Values extentsOf(Lowering &l, mlir::Value array);
inline mlir::Value lengthOf(Lowering &l, mlir::Value array, int64_t axis) {
  return extentsOf(l, array)[axis];
}

} // namespace ptl::cpu
