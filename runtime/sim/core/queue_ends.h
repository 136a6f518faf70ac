// A core's ends of the queues of tiles between the cube core and the vector cores of its group.
#pragma once

#include "runtime/sim/issued.h"

namespace ptl::rt::sim {

struct CoreState;

/// The counters of one queue that the cores of a group share, with one of each kind for every core.
struct QueueState {
  static constexpr size_t maxCores = 4;
  int64_t pushed[maxCores] = {}, popped[maxCores] = {}, freed[maxCores] = {};
};

/// One core's view of a queue: where its slots are, and what the core has issued.
struct QueueEnd {
  int64_t localAddress = 0;
  View global; ///< the ring, if tiles go through global memory
  int64_t pushes = 0, pops = 0, frees = 0;
};

/// The queue of a step.
const Queue &queueOf(const CoreState &core, const Step &step);

/// Sets the location of the slots of an end of a queue.
void initQueue(CoreState &core, const Step &step);
/// Numbers a push, a pop or a free of a slot in global memory at its issue, and gives a pop its
/// tile. False after an error.
bool numberAtQueue(CoreState &core, Issued &issued);
/// Issues a free of a slot in the core's own memory, which waits for all pipes. False after an
/// error.
bool issueLocalFree(CoreState &core, const Step &step);
/// Signals the freed slots in the core's own memory that no pending operation may read any more.
void giveSlotsBack(CoreState &core);

/// Whether there is a free slot for a push.
bool isPushReady(const CoreState &core, const Issued &issued);
/// Whether the tile of a pop has arrived, with all its parts.
bool isPopReady(const CoreState &core, const Issued &issued);
/// Whether the core will never use a queue: it has ended without using it. Such a core has bypassed
/// the queue, for instance on another branch.
bool neverTakesPart(const CoreState &core, size_t queue);

/// The address of the local slot with a number.
int64_t localSlot(const CoreState &core, const Step &step, int64_t ordinal);
/// The part of the slot in global memory that belongs to a tile of this core: a whole tile in
/// row-major order, or a part of it. False if the tile does not fit.
bool globalSlot(const CoreState &core, const Issued &issued, const Tile &tile, View &slot);

} // namespace ptl::rt::sim
