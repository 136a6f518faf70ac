// Axes that lie behind each other in memory and that all operations treat alike, as one axis. Chips
// compute in matrices: of an image `[N, C, H, W]` they would take a line of `W` pixels after the
// other, or an image after the other, however small it is. Where `H` and `W` stay together, a tile has
// as many pixels as it has room for.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Gives elementwise operations and reductions outside of grids results with fewer axes, where the
/// elements of what they read and write lie in order, so that a `reshape` to and from them moves
/// nothing.
void joinAxes(mlir::func::FuncOp function);

/// Whether a reshape only adds or takes away axes of extent 1, so that it needs no storage.
bool isViewOfOnes(ReshapeOp reshape);

/// One axis instead of several, named by the product of their names, so that the same axes have the
/// same name wherever they are joined. Precondition: each is a constant or has a name.
Extent joinedExtent(mlir::MLIRContext *context, llvm::ArrayRef<Extent> extents);

} // namespace ptl::ir
