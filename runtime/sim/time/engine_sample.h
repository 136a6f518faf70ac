// Windows of rounds that represent others: what was done in them counts several times, and their
// pipes are occupied for as long as all the represented rounds take.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Stores the sums of an operation as long as they may have to count several times.
void noteDone(PipeClock &state, uint32_t site, const SiteTotal &total);
/// Handles a mark at the head of a pipe: the beginning of a round, or the end of a loop. False
/// after an error.
bool takeMark(Engine &e, CoreClock &clock, Pipe pipe);
/// Whether a pipe has to wait until rounds that others stood for have moved their bytes, because another
/// launch moves some, too.
bool waitsForRounds(const Engine &e, CoreClock &clock, Pipe pipe);
/// Whether a transfer that is done is of rounds that others stood for, by its number.
bool isOfRounds(uint32_t id);
/// That transfer is done, which may let its pipe go on.
void leaveRounds(Engine &e, uint32_t id, Cycles time);
/// Handles the marks of the scalar unit, which has a time of its own: it is ahead of the pipes or
/// keeps them waiting. In a window it waited only for room in its queues, and there will be room.
void takeScalarMarks(Engine &e, CoreClock &clock);

} // namespace ptl::rt::sim
