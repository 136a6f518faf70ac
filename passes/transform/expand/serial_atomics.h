// Atomic updates in index order.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands stores of grids that chips cannot execute atomically: a grid of one point loops over the
/// points, and reads and writes the stored elements.
void serialiseAtomics(mlir::func::FuncOp function);

} // namespace ptl::ir
