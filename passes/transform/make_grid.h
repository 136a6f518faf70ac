// Opens a grid, for passes that move code into one.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// Makes a grid over the positions from 0 to `upper`, in steps, and moves the builder into its
/// body, which has no terminator as yet. `positionLoc` is the source location of the positions.
ParallelOp openGrid(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange upper,
                    mlir::ValueRange steps, mlir::Location positionLoc);

} // namespace ptl::ir
