// Reductions as vector instructions.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// False for what is no reduction.
bool lowerReduction(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
