// Tasks on their way to cores: schedulers hand them out, and `VirtualLanes` says which cores their
// blocks run on.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// One thing less that a task waits for; the last one makes a scheduler hand it out. False after an
/// error, as of what follows.
bool mayBegin(Engine &e, uint32_t task, Cycles time);
/// A scheduler has the task ready for cores.
bool handOut(Engine &e, LaunchClock &launch);
/// The cores of a block will be free at that time.
void releaseBlock(Engine &e, uint32_t span, Cycles end);
/// They are.
bool blockReleased(Engine &e, uint32_t span);

} // namespace ptl::rt::sim
