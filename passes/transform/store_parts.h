// Stores the parts of assembled arrays directly at their destinations.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Outside grids, `y = concat(a, b, axis: 0)` and `y = interleave(a, b)` become stores of their
/// parts to boxes of `y`, so that the parts are computed directly there. Values with other uses are
/// not changed.
void storeParts(mlir::func::FuncOp function);

/// Outside grids, gives each store of an argument (`y = x`, `y = x[2:N]`, a part of what is put together) an operation of its own,
/// so that it gets a grid: cores divide the copy among them, and copies of one array share its tiles, which are read once.
void divideCopies(mlir::func::FuncOp function);

} // namespace ptl::ir
