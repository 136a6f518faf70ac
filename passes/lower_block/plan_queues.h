// Plans the queues between the cores of a mixed kernel: which value passes through which queue, and
// their flags, slots and bytes. `ptl-plan-queues` records the plan as attributes, and the lowering
// follows it.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "mlir/Support/LogicalResult.h"

#include <utility>
#include <vector>

namespace ptl::block {

/// A queue in one direction.
struct Queue {
  llvm::SmallVector<mlir::Value> values; ///< the values that pass through it
  bool toVector = false;
  int64_t flag = 0;  ///< the first of its cross-core events
  int64_t slots = 0; ///< tiles in flight
  int64_t held = 1;  ///< tiles held in the consumer's own memory at once, if slots are global
  int64_t bytes = 0; ///< of a slot, which holds the largest value
  /// Slots are global memory that both sides access directly: one value passes through, in a slot
  /// of its own for each iteration of its loop, stored and loaded in any parts.
  bool isRing = false;
};

struct QueuePlan {
  std::vector<Queue> queues;
  bool merges = false; ///< `ptl.merged`
  int64_t meetingFlag = 0;
  /// The global memory per core group for slots of queues that are not rings, unless the slots are
  /// in the consumer's own memory.
  int64_t workspaceBytes() const;
};

/// Plans the queues of a grid whose cores have been assigned. False after an error, which is
/// reported: the machine has too few flags, or a value has no static bound.
bool markQueues(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Reads the plan from the attributes of a grid.
QueuePlan markedQueues(ir::ParallelOp grid, const CoreAssignment &cores);

/// Verifies that the attributes are present and consistent. Each value that passes between cores
/// has one queue, in the right direction and with enough room; no event is used twice; and where
/// slots are the consumer's own memory, the values of a queue are read in sequence, unless the
/// consumer copies them.
mlir::LogicalResult verifyQueues(ir::ParallelOp grid, const Machine &machine);

/// Whether more values pass between cores than the machine has flags for, so that values of the
/// same form must share queues.
bool sharesQueues(const CoreAssignment &cores, const Machine &machine);
/// Whether even that needs too many flags. Then values of all forms share one queue to the vector
/// cores, and the operands of each side of products share one queue to the cube core.
bool mergesQueues(const CoreAssignment &cores, const Machine &machine);

/// The number of iterations by which one stage of a loop may be ahead of the other. All values of
/// the first stage are pushed before any of them is popped, so the slots of both directions limit
/// it: with more, the cores would deadlock.
int64_t turnsAhead(const CoreAssignment &cores, const Machine &machine,
                   const LowerOptions &options);

/// The first and the last operation of `home` (null: of the block that defines the value) for which
/// `core` reads a value, also through aliases.
std::pair<mlir::Operation *, mlir::Operation *>
usesOf(mlir::Value value, CoreKind core, const CoreAssignment &cores, mlir::Block *home = nullptr);

} // namespace ptl::block
