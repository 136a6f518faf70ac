// A core's ends of the queues of tiles between the cube core and the vector cores of its group.
#pragma once

#include "runtime/sim/issued.h"

namespace ptl::rt::sim {

struct CoreState;

/// The counters of one queue as the cores of a group know them, one of each kind for every core.
struct QueueState {
  static constexpr size_t maxCores = 4;
  int64_t pushed[maxCores] = {}, popped[maxCores] = {}, freed[maxCores] = {};
};

/// What one core knows of a queue: where its slots are, and what it has issued.
struct QueueEnd {
  int64_t localAddress = 0;
  View global; ///< the ring, if tiles go through global memory
  int64_t pushes = 0, pops = 0, frees = 0;
};

/// The queue of a step.
const Queue &queueOf(const CoreState &core, const Step &step);

/// Tells the end of a queue where its slots are.
void initQueue(CoreState &core, const Step &step);
/// Gives a push, a pop or a free of a slot in global memory that is issued its number at the queue,
/// and a pop the tile that it brings. False after an error.
bool numberAtQueue(CoreState &core, Issued &issued);
/// Issues a free of a slot in the core's own memory, which waits for all pipes. False after an
/// error.
bool issueLocalFree(CoreState &core, const Step &step);
/// Signals the slots in the core's own memory for which nothing has to end any more.
void giveSlotsBack(CoreState &core);

/// Whether there is a slot for a push.
bool isPushReady(const CoreState &core, const Issued &issued);
/// Whether the tile of a pop is there, or all parts of it.
bool isPopReady(const CoreState &core, const Issued &issued);
/// Whether the core will never take part in a queue: it is done and has not used it. Such a core has
/// gone past the queue, for instance on another branch.
bool neverTakesPart(const CoreState &core, size_t queue);

/// The address of the local slot of a number.
int64_t localSlot(const CoreState &core, const Step &step, int64_t ordinal);
/// The part of the slot in global memory that belongs to a tile of this core: a whole tile row by
/// row, or a part in it. False if the tile does not fit.
bool globalSlot(const CoreState &core, const Issued &issued, const Tile &tile, View &slot);

} // namespace ptl::rt::sim
