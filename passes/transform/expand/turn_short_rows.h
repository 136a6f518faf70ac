// Short rows, turned.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Transposes short rows of which single elements are read (`boxes[:, 0]`): each such column
/// becomes a row of an array.
void turnShortRows(mlir::func::FuncOp function);

} // namespace ptl::ir
