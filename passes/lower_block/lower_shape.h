// Lowers operations that each kind of core executes for itself: constants, positions, views,
// transposes.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Whether each core that needs the operation's result executes it: constants, positions, views.
bool isShared(mlir::Operation *op);
/// Lowers such an operation. False if the operation is not one of these.
bool lowerShared(KernelContext &c, mlir::Operation *op);
/// Lowers a view with another shape of the same elements in the same order.
void lowerView(KernelContext &c, Operation *op);

} // namespace ptl::block
