// Lowers operations whose positions are data.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers `take`: whole rows of a tile, or of an array in global memory, by one position each.
void lowerTake(KernelContext &c, mlir::Operation *op);
/// Lowers `gather`: one position for each element of the result.
void lowerGather(KernelContext &c, mlir::Operation *op);
/// Lowers `scatter`: one position for each element of the value.
void lowerScatter(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
