// Windows of rounds that stand for others like them: what was done in them counts several times,
// and their pipes are taken for as long as all of it takes.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Keeps what an operation came to while it may have to count several times.
void noteDone(PipeClock &state, uint32_t site, const SiteTotal &total);
/// A pipe has come to the beginning of a round, or the end of a loop. False after an error.
bool takeMark(Engine &e, CoreClock &clock, Pipe pipe);
/// The scalar unit has its own time, in which it is ahead of the pipes or keeps them waiting. What
/// it waited for in a window was its queues to have room, which they will have.
void takeScalarMarks(Engine &e, CoreClock &clock);

} // namespace ptl::rt::sim
