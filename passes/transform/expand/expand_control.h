// Arrays that loops and branches carry, as storage.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Turns arrays that loops and branches outside grids carry into storage.
void storeCarried(mlir::func::FuncOp function);

} // namespace ptl::ir
