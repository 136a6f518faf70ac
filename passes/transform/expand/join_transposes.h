// Axes that a `transpose` of memory keeps together, as one axis.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Gives a `transpose` outside of grids fewer axes where axes follow each other before and after it, so
/// that their positions are those of one longer axis: `[A, B, C]` with `C` first is a matrix of `A * B`
/// rows, turned. Tiles are matrices; they would hold one position of all other axes. Only arrays that lie
/// in order in memory, and results that go there, can be seen with other axes.
void joinTransposes(mlir::func::FuncOp function);

} // namespace ptl::ir
