// Determines which storage the kernels of a program's text fill completely.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// Whether the tiles of a grid cover all of the storage `ref`, by the bounds of its axes, so that a
/// kernel with these grids can have it as an output. Grids that each store a part of it are assumed
/// to adjoin.
bool storesWhole(mlir::Value ref, llvm::ArrayRef<ir::ParallelOp> grids);

} // namespace ptl::source
