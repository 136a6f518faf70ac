// Stores the parts of assembled arrays directly at their destinations.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Outside grids, `y = concat(a, b, axis: 0)` and `y = interleave(a, b)` become stores of their
/// parts to boxes of `y`, so that the parts are computed directly there. Values with other uses are
/// not changed.
void storeParts(mlir::func::FuncOp function);

} // namespace ptl::ir
