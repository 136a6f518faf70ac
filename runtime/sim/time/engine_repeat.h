// Launches that are assumed to run like an earlier one from the same place of the program. They are
// not simulated; their blocks occupy the cores, and shared resources, as the earlier ones did.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Decides at the start of a launch whether it is simulated.
void takeTurn(Engine &e, LaunchClock &launch);
/// Lets a block take as long as that of the earlier launch, or longer if shared resources have less
/// capacity left than its transfers used then.
void repeatBlock(Engine &e, LaunchClock &launch, uint32_t span);
/// Lets a block that is not simulated take so long for its bytes, or longer if others want them, too. `whole` is what all of it takes.
void moveFor(Engine &e, uint32_t span, Cycles time, double bytes, double missed, Cycles whole);
/// Whether a completed transfer, given by its number, belongs to `moveFor`.
bool isOfRepeated(uint32_t id);
/// Completes that transfer, which may end its block.
void leaveRepeated(Engine &e, uint32_t id, Cycles time);
/// Records that an instruction ran on this pipe.
void noteUse(Engine &e, const CoreClock &clock, Pipe pipe);
/// Adds the totals of a task that has ended to those of the run.
void countLaunch(Engine &e, LaunchClock &launch);

} // namespace ptl::rt::sim
