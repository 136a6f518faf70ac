// Tasks on their way to cores: schedulers dispatch them, and `VirtualLanes` chooses the cores for
// their blocks.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Removes one reason for a task to wait; after the last one a scheduler dispatches the task.
/// Returns false after an error, as do the functions below.
bool mayBegin(Engine &e, uint32_t task, Cycles time);
/// Makes a task that a scheduler has dispatched ready for cores.
bool handOut(Engine &e, LaunchClock &launch);
/// Frees the cores of a block at the time `end`, `others` of it by the transfers of other launches.
void releaseBlock(Engine &e, uint32_t span, Cycles end, Cycles others = 0);
/// Handles the event that the cores of a block are free.
bool blockReleased(Engine &e, uint32_t span);

} // namespace ptl::rt::sim
