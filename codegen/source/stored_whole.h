// Which storage the kernels of a program's text fill.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// Whether the tiles of a grid are all of the storage `ref`, by the bounds of its axes, so that a kernel of these grids can have it as an
/// output. Grids that store parts of it are taken to adjoin.
bool storesWhole(mlir::Value ref, llvm::ArrayRef<ir::ParallelOp> grids);

} // namespace ptl::source
