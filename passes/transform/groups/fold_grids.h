// Avoids storing arrays that a grid computes only to be reduced completely.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `sum(a * b)` as operations on whole arrays would store the product, and read it again. If the
/// only use of a grid's result is a reduction over all elements, each tile is reduced where it is
/// computed, the partial results are stored instead, and the reduction is over these. Tiles do not
/// depend on the number of threads, so neither does the result.
void foldGrids(mlir::func::FuncOp function);

} // namespace ptl::ir
