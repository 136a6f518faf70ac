// Lowers products: staging, steps through the operand buffers, accumulators.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Stages a value that products read: a slice of memory is loaded to `mat`. A value without a
/// static bound stays in memory, and the product loads it piece by piece.
void stage(KernelContext &c, mlir::Operation *slice, const Tile &memory);
/// Lowers an operation of the cube core.
void lowerCube(KernelContext &c, mlir::Operation *op);
/// The accumulator of a variable that a loop carries. It is not filled, because the first product
/// initialises it.
Tile accumulatorTile(KernelContext &c, mlir::scf::ForOp loop, mlir::Value argument);

} // namespace ptl::block
