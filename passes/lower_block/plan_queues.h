// Plans the queues between the cores of a mixed kernel: which value goes through which queue, and
// their flags, slots and bytes. `ptl-plan-queues` records the plan as attributes, and the lowering
// follows it.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "mlir/Support/LogicalResult.h"

#include <utility>
#include <vector>

namespace ptl::block {

/// A queue that goes one way.
struct Queue {
  llvm::SmallVector<mlir::Value> values; ///< that go through it
  bool toVector = false;
  int64_t flag = 0;  ///< the first of its events between cores
  int64_t slots = 0; ///< tiles in flight
  int64_t held = 1;  ///< of these in the consumer's own memory at once, where slots are global
  int64_t bytes = 0; ///< of a slot: the whole of the largest value
  /// Slots are global memory that both sides reach as they please: one value goes through, in a
  /// slot of its own for each round of its loop, stored and loaded in any parts.
  bool isRing = false;
};

struct QueuePlan {
  std::vector<Queue> queues;
  bool merges = false; ///< `ptl.merged`
  int64_t meetingFlag = 0;
  /// Global memory that the slots of queues that are no rings need for each core group, unless they
  /// are the consumer's own.
  int64_t workspaceBytes() const;
};

/// Plans the queues of a grid whose cores are assigned. False after an error, which is reported:
/// the machine has too few flags, or a value has no bound.
bool markQueues(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Reads the plan from the attributes of a grid.
QueuePlan markedQueues(ir::ParallelOp grid, const CoreAssignment &cores);

/// Checks that the attributes are there and right. Each value that crosses has one queue, which has
/// the right direction and enough room; no event is used twice; and where slots are the consumer's
/// own memory, values of a queue are read one after the other, unless it copies them.
mlir::LogicalResult verifyQueues(ir::ParallelOp grid, const Machine &machine);

/// Whether more values cross than the machine has flags for, so that values of the same form share
/// queues.
bool sharesQueues(const CoreAssignment &cores, const Machine &machine);
/// Whether, even so, more flags are needed than there are. Then values of all forms share one queue
/// to the vector cores, and the operands of each side of products share one to the cube core.
bool mergesQueues(const CoreAssignment &cores, const Machine &machine);

/// The number of iterations that one stage of a loop may be ahead of the other. All values from
/// ahead are pushed before any of them is popped, so the slots of both directions limit it: beyond
/// them the cores would block each other.
int64_t turnsAhead(const CoreAssignment &cores, const Machine &machine,
                   const LowerOptions &options);

/// The first and the last operation of `home` (null: where the value is made) for which `core`
/// reads a value, also under another name.
std::pair<mlir::Operation *, mlir::Operation *>
usesOf(mlir::Value value, CoreKind core, const CoreAssignment &cores, mlir::Block *home = nullptr);

} // namespace ptl::block
