// Opens a grid, for the passes that move code into one.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// A grid over the positions from 0 to `upper`, in steps; the positions are at `positionLoc` in the
/// source. The builder goes on in the body, which has no end yet.
ParallelOp openGrid(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange upper,
                    mlir::ValueRange steps, mlir::Location positionLoc);

} // namespace ptl::ir
