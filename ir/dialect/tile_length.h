// The length of a tile of a loop or grid.
#pragma once

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The length of the tile at `position`, which is `from` or a multiple of `step` behind it: `step`, or what is left before `to`. Where
/// known numbers hold whole tiles only it is `step` itself, so that code has tiles of known lengths. All values are of type `index`.
mlir::Value tileLength(mlir::OpBuilder &b, mlir::Location loc, mlir::Value position,
                       mlir::OpFoldResult from, mlir::Value to, mlir::Value step);

} // namespace ptl::ir
