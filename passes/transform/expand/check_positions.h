// Checks of arrays of positions that count.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Whether `(index(0..N) + 1) % N` are positions of an axis is told by the first and the last number of each run of them
/// (`affinePositionsOf`): the host compares these, and the array is not made for the check.
void checkPositions(mlir::func::FuncOp function);

} // namespace ptl::ir
