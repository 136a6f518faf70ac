// Finds lengths of arrays as index values, from the operations that created the arrays rather than
// from the arrays themselves.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The length of an axis of `value`, built at the builder's insertion point. Precondition: the
/// operands of `value`'s defining operation dominate that point.
mlir::Value lengthOf(mlir::OpBuilder &builder, mlir::Value value, int64_t axis);

/// The number of elements along some axes of `value`, as an `f32` scalar: the divisor of a mean.
mlir::Value countAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> axes);

/// The length of an axis if a value for it exists: an operand of a slice or a built-in, which is
/// searched for through operations, loops and branches. Returns nothing for a constant, and if only
/// the array itself determines the length.
mlir::Value findLength(mlir::Value value, int64_t axis);

} // namespace ptl::ir
