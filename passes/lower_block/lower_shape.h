// What both kinds of cores may make for themselves: constants, positions, views, transposes.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Constants, positions and views. False: not one of these.
bool lowerShared(KernelContext &c, mlir::Operation *op);
/// Another shape of the same elements in the same order.
void lowerView(KernelContext &c, Operation *op);

} // namespace ptl::block
