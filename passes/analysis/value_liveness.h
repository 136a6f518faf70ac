// Liveness of a value in structured control flow, where the next iteration of a loop reads values
// from before the loop again.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// Whether an operation that reads `value` may execute after `op`: a later one or, if `op` is in a
/// loop and `value` is defined before the loop, any operation in that loop, including `op` itself.
/// Operations that only query lengths do not read the value.
bool isReadAfter(mlir::Value value, mlir::Operation *op);

/// Whether an operation nested in the regions of `op` reads `value`.
bool isReadInside(mlir::Value value, mlir::Operation *op);

} // namespace ptl::ir
