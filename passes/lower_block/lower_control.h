// Points of the grid, blocks of operations, loops and branches.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The operations of a block, with the crossings between them.
void lowerBlock(KernelContext &c, mlir::Block &block);
/// One operation, by who lowers its kind.
void lowerOp(KernelContext &c, Operation *op);
/// Brings a value into the buffer that a loop carries or a branch leaves.
void keep(KernelContext &c, mlir::Value value, const Tile &into, mlir::Location loc);
/// The same for several, as if at once.
void keepAll(KernelContext &c, mlir::ValueRange values, CarriedTiles tiles, mlir::Location loc);
/// The number of the iteration of a loop, from 0.
mlir::Value iterationOf(KernelContext &c, mlir::scf::ForOp loop);
/// Lowers the grid into the function's body, its points dealt to the core groups. False after an
/// error.
bool lowerGrid(KernelContext &c, ir::ParallelOp grid);

} // namespace ptl::block
