// Emits the code by which values pass between the cube and the vector cores.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The arrays for which the cores synchronise at meetings.
llvm::SmallVector<mlir::Value> pointersMet(KernelContext &c);
/// Synchronises all cores of the group: the vector cores signal the cube core, which then signals
/// them all.
void meet(KernelContext &c, mlir::Location loc);
/// Opens the planned queues at the start of the function, in the same order on both sides; their
/// rings are contiguous in the workspace.
void openQueues(KernelContext &c);
/// Emits the transfer of a value after its definition: its producer pushes it, its consumer pops
/// it.
void cross(KernelContext &c, mlir::Value value);
/// Pops the values that `op` needs, and those pushed before them on the same queue.
void popFor(KernelContext &c, mlir::Operation *op);
/// Frees slots in the consumer's own memory after the last use of the value that was popped into
/// them; slots of a queue are freed in the order of their pops.
void freeSlots(KernelContext &c, mlir::Operation *after);
/// The share of a length of this vector core, if the axis is split between the cores, or a length
/// that may be 0. The result is at least 1, because instructions need a non-empty extent; `present`
/// becomes an i1 whether there is anything.
mlir::Value dealt(KernelContext &c, mlir::Value length, const ir::Extent &extent,
                  mlir::Value *present = nullptr);
/// Whether a result in the slot of a popped tile would still be read after later tiles of the queue
/// have been popped into all slots that the consumer may hold.
bool outlivesSlot(KernelContext &c, Value result, Value slot);

} // namespace ptl::block
