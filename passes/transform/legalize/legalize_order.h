// Rewrites of sorting and selecting.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> orderRows();

/// Rewrites `topk`, which has two results and so no row; false if it is unchanged.
bool rewriteTopk(const Tiles &t, mlir::Operation *op);

} // namespace ptl::ir::legalize
