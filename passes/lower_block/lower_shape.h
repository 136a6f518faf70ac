// What both kinds of cores may make for themselves: constants, positions, views, transposes.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Whether each core that needs an operation does it for itself: constants, positions, views.
bool isShared(mlir::Operation *op);
/// Such an operation. False: it is not one for this core.
bool lowerShared(KernelContext &c, mlir::Operation *op);
/// Another shape of the same elements in the same order.
void lowerView(KernelContext &c, Operation *op);

} // namespace ptl::block
