// Dense operands of products.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Stores operands of products whose elements are not contiguous in arrays of their own.
void storeScatteredOperands(mlir::func::FuncOp function);

} // namespace ptl::ir
