// Windows of iterations that represent others: their operations count several times, and their
// pipes are occupied for as long as all represented iterations take.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Stores the totals of an operation as long as they may have to count several times.
void noteDone(PipeClock &state, uint32_t site, const SiteTotal &total);
/// Handles a mark at the head of a pipe: the beginning of an iteration, or the end of a loop. False
/// after an error.
bool takeMark(Engine &e, CoreClock &clock, Pipe pipe);
/// Whether a pipe must wait until represented iterations have transferred their bytes, because
/// another launch transfers data, too.
bool waitsForRounds(const Engine &e, CoreClock &clock, Pipe pipe);
/// From now on what a core moves represents so many cores more.
void joinCopies(Engine &e, CoreClock &clock, double more);
/// Whether a completed transfer, given by its number, belongs to represented iterations.
bool isOfRounds(uint32_t id);
/// Completes that transfer, which may let its pipe continue.
void leaveRounds(Engine &e, uint32_t id, Cycles time);
/// Handles the marks of the scalar unit, which has a time of its own: it is ahead of the pipes or
/// keeps them waiting. Within a window it waited only for room in its queues, and there will be
/// room.
void takeScalarMarks(Engine &e, CoreClock &clock);

} // namespace ptl::rt::sim
