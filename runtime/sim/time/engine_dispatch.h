// Tasks on their way to cores: schedulers hand them out, and `VirtualLanes` says which cores their
// blocks run on.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Notes that one reason for a task to wait is gone; after the last one a scheduler hands the task
/// out. False after an error, as for the functions below.
bool mayBegin(Engine &e, uint32_t task, Cycles time);
/// Makes a task that a scheduler has handed out ready for cores.
bool handOut(Engine &e, LaunchClock &launch);
/// Makes the cores of a block free at the time `end`.
void releaseBlock(Engine &e, uint32_t span, Cycles end);
/// Handles the event that the cores of a block are free.
bool blockReleased(Engine &e, uint32_t span);

} // namespace ptl::rt::sim
