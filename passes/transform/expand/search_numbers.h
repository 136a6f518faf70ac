// Searches among numbers and NaNs.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// `argmax` and `argmin` of floats that may be NaN, also of the tiles in grids: a NaN is found apart from the numbers, for which
/// machines have instructions.
void searchNumbers(mlir::func::FuncOp function);

} // namespace ptl::ir
