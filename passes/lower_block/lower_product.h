// Products: staging, steps through the operand buffers, accumulators.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// A value that products read: loaded to `mat` where it is cut from memory. What has no bound stays
/// in memory, and the product loads it piece by piece.
void stage(KernelContext &c, mlir::Operation *slice, const Tile &memory);
/// An operation of the cube core.
void lowerCube(KernelContext &c, mlir::Operation *op);
/// The accumulator of a variable that a loop carries. It begins with the first product, so nothing
/// fills it.
Tile accumulatorTile(KernelContext &c, mlir::scf::ForOp loop, mlir::Value argument);

} // namespace ptl::block
