// Lengths of arrays as index values, found from what made them instead of from the array.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The length of an axis of `value`, built at the builder's insertion point, which `value`'s
/// operands dominate.
mlir::Value lengthOf(mlir::OpBuilder &builder, mlir::Value value, int64_t axis);

/// The same, if it is there already: what slices and built-ins were told, looked for through
/// operations, loops and branches. Nothing for a constant, and where only the array tells.
mlir::Value findLength(mlir::Value value, int64_t axis);

} // namespace ptl::ir
