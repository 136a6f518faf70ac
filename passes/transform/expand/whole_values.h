// Computes values once that are needed both at tensor level and in a grid of the source: before the
// grid, which then loads them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Where the same is computed at tensor level and in a grid, it is computed once, before the grid.
/// Such values are loaded in the grid, from the storage that they will get; constants and positions
/// are made there again.
void bringIntoGrids(mlir::func::FuncOp function);

} // namespace ptl::ir
