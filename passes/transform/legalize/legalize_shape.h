// Rewrites of operations that change shapes.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> shapeRows();

Merged mergeAxes(const Tiles &t, llvm::ArrayRef<Extent> extents, mlir::ValueRange lengths,
                 int64_t begin, int64_t end);

} // namespace ptl::ir::legalize
