// Lowers products: staging, steps through the operand buffers, accumulators.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Stages a value that products read: it is loaded to `mat` where it is sliced from memory. A value
/// without a bound stays in memory, and the product loads it piece by piece.
void stage(KernelContext &c, mlir::Operation *slice, const Tile &memory);
/// Lowers an operation of the cube core.
void lowerCube(KernelContext &c, mlir::Operation *op);
/// The accumulator of a variable that a loop carries. The first product initialises it, so nothing
/// fills it.
Tile accumulatorTile(KernelContext &c, mlir::scf::ForOp loop, mlir::Value argument);

} // namespace ptl::block
