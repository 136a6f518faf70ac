// Computes values only once that are needed both at tensor level and in a grid of the source:
// before the grid, which then loads them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// If the same value is computed at tensor level and in a grid, computes it once, before the grid.
/// The grid then loads it from the storage that it will get; constants and positions are recomputed
/// there.
void bringIntoGrids(mlir::func::FuncOp function);

} // namespace ptl::ir
