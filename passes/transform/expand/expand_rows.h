// Parts by position.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// What `array` is all of, if it is a slice that takes everything from its source, or such slices of
/// slices; else `array`.
mlir::Value withoutWholeSlices(mlir::Value array);

/// Expands parts by position: `x[ids, :]`, and stores through such a list, become grids.
void expandTake(TakeOp take, const Machine *machine);
void expandScatter(StoreOp store);
/// Whether the elements of an array lie one behind the other in memory, or will.
bool liesInOrder(mlir::Value array);
/// Converts a number of any integer type to a position.
mlir::Value asPosition(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number);

} // namespace ptl::ir
