// Arrays that are put together of parts and stored: each part is stored where it goes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Outside of grids, `y = concat(a, b, axis: 0)` and `y = interleave(a, b)` become stores of their parts to boxes of `y`, so that what computes a part
/// writes it there at once. Values that are used otherwise, too, stay as they are.
void storeParts(mlir::func::FuncOp function);

} // namespace ptl::ir
