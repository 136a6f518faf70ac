// Searches along long rows.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// `argmax` and `argmin` along few long rows become two folds; where that depends on lengths, a branch decides.
void searchLongRows(mlir::func::FuncOp function);

} // namespace ptl::ir
