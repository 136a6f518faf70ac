// Whether what a value stands for is still read: in structured control flow, where a loop reads
// again in its next round what stands before it.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// Whether an operation that reads `value` may run after `op` has: one behind it, or, where `op` is
/// in a loop that `value` is made before, any in that loop, `op` itself included. What is asked for
/// its lengths alone is not read.
bool isReadAfter(mlir::Value value, mlir::Operation *op);

/// Whether an operation inside of the regions of `op` reads `value`.
bool isReadInside(mlir::Value value, mlir::Operation *op);

} // namespace ptl::ir
