// Lowers points of the grid, blocks of operations, loops and branches.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers the operations of a block, and passes values between cores among them.
void lowerBlock(KernelContext &c, mlir::Block &block);
/// Lowers one operation by the function for its kind.
void lowerOp(KernelContext &c, Operation *op);
/// Writes a value into the buffer of a carried value or of a branch's result.
void keep(KernelContext &c, mlir::Value value, const Tile &into, mlir::Location loc);
/// Does so for several values as if simultaneously, so that none is overwritten before it is read.
void keepAll(KernelContext &c, mlir::ValueRange values, CarriedTiles tiles, mlir::Location loc);
/// The number of the iteration of a loop, from 0.
mlir::Value iterationOf(KernelContext &c, mlir::scf::ForOp loop);
/// Lowers the grid into the function's body, with its points distributed over the core groups.
/// False after an error.
bool lowerGrid(KernelContext &c, ir::ParallelOp grid);

} // namespace ptl::block
