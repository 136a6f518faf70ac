// Finds lengths of arrays as index values, from the operations that made the arrays instead of from
// the arrays.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The length of an axis of `value`, built at the builder's insertion point, which `value`'s
/// operands dominate.
mlir::Value lengthOf(mlir::OpBuilder &builder, mlir::Value value, int64_t axis);

/// The number of elements along some axes of `value`, as an `f32` scalar: what a mean divides by.
mlir::Value countAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> axes);

/// The length of an axis, if a value for it exists: it is an operand of a slice or a built-in, and
/// is searched for through operations, loops and branches. Returns nothing for a constant, and if
/// only the array itself has the length.
mlir::Value findLength(mlir::Value value, int64_t axis);

} // namespace ptl::ir
