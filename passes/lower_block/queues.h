// Values that cross between the cube and the vector cores.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The arrays over which the cores meet.
llvm::SmallVector<mlir::Value> pointersMet(KernelContext &c);
/// All cores of the group have done what stands before when any of them goes on: the vector cores
/// tell the cube core, and that tells them all.
void meet(KernelContext &c, mlir::Location loc);
/// Opens the planned queues at the start of the function, alike on both sides; their rings lie one
/// behind the other in the workspace.
void openQueues(KernelContext &c);
/// After a value's definition: its producer pushes it, its consumer pops it.
void cross(KernelContext &c, mlir::Value value);
/// Pops what `op` needs, and what was pushed before it on the same queue.
void popFor(KernelContext &c, mlir::Operation *op);
/// In the consumer's own memory a slot is given back after the last use of what was popped into it;
/// slots of a queue in the order in which they came.
void freeSlots(KernelContext &c, mlir::Operation *after);
/// This vector core's part of a length whose axis is dealt, or a length that may be 0: at least 1,
/// so that instructions have something to do; `present` becomes an i1 that says whether there is
/// anything.
mlir::Value dealt(KernelContext &c, mlir::Value length, const ir::Extent &extent,
                  mlir::Value *present = nullptr);
/// Whether what is made in the slot of a popped tile would still be read when others of its queue
/// have been popped into all slots that the consumer may hold.
bool outlivesSlot(KernelContext &c, Value result, Value slot);

} // namespace ptl::block
