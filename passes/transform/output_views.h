// Outputs that are stored in another shape than they are computed in: `y = reshape(a @ b, [B, S, H, E])`.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// What is computed in one shape and stored as another one goes to the output at once, through a view
/// (`ptl.view`) of the shape in which it is computed, so that it need not be copied afterwards. `onlyComputed`: what only moves elements
/// stays as it is, because a CPU copies it as a whole, by vectors.
void viewOutputs(mlir::func::FuncOp function, bool onlyComputed = false);

/// Whether `viewOutputs` lets what a store writes have another shape: the store alone fills an output.
bool mayViewOutput(StoreOp store);

/// The other way round: a view becomes storage of its own, which is stored to the output in the end, as a source
/// has to say it.
void storeViews(mlir::func::FuncOp function);

} // namespace ptl::ir
