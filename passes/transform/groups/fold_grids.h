// Arrays that a grid stores only to be folded whole.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `sum(a * b)` as operations on whole arrays would store the product, and read it again. Where nothing but a fold of all elements
/// reads what a grid stores, each tile is folded where it is computed, what the tiles come to is stored instead, and the fold is that of
/// these. A tile is the same on any number of threads, and so is the result.
void foldGrids(mlir::func::FuncOp function);

} // namespace ptl::ir
