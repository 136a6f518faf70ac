// Parts of arrays that reach beyond the edges.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands a part of an array that reaches beyond the edges: it becomes storage that is filled with
/// the outside value and then with the elements of the array. False for other operations.
bool reachesOutside(mlir::Operation *op);
bool expandOutside(mlir::Operation *op);

} // namespace ptl::ir
