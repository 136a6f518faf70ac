// Loads boxes of global memory that may reach beyond the edges of their array.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Whether all positions of these axes lie inside the array.
mlir::Value allInside(KernelContext &c, llvm::ArrayRef<GlobalAxis> axes);
/// Whether the element at these positions of the box lies inside.
mlir::Value isInside(KernelContext &c, const GlobalBox &box, Indices at);
/// Loads a box that lies partly or wholly beyond the edges, where it gets `outside`. Elements of the array beside the box may
/// be read, too, unless the kernel writes the array.
void loadInside(KernelContext &c, const GlobalBox &box, const ShapedTile &to, mlir::Value outside,
                bool isWritten);

} // namespace ptl::block
