// Decides whether a value is still read in structured control flow, where a loop's next round reads
// values from before the loop again.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// Whether an operation that reads `value` may run after `op`: one behind it, or, where `op` is in
/// a loop and `value` is made before the loop, any in that loop, `op` itself included. Operations
/// that only ask for lengths do not read the value.
bool isReadAfter(mlir::Value value, mlir::Operation *op);

/// Whether an operation inside of the regions of `op` reads `value`.
bool isReadInside(mlir::Value value, mlir::Operation *op);

} // namespace ptl::ir
