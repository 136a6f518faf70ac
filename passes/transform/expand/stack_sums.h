// Sums of products as one product.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Turns loops of few iterations outside grids that each add a product to an array into one product
/// of operands that are stored side by side; `tileBytes`: of the largest tile that is copied.
void stackSums(mlir::func::FuncOp function, const Machine &machine, int64_t tileBytes);

} // namespace ptl::ir
