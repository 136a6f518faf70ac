// Lowers operations that both kinds of cores may do for themselves: constants, positions, views,
// transposes.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Whether each core that needs an operation does it for itself: constants, positions, views.
bool isShared(mlir::Operation *op);
/// Lowers such an operation. False if it is not one for this core.
bool lowerShared(KernelContext &c, mlir::Operation *op);
/// Lowers another shape of the same elements in the same order.
void lowerView(KernelContext &c, Operation *op);

} // namespace ptl::block
