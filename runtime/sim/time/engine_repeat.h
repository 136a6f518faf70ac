// Launches that are assumed to run like an earlier one from the same place of the program. They are
// not simulated; their blocks occupy the cores for as long as the earlier ones did, and what cores share.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Decides, when a launch begins, whether it is simulated.
void takeTurn(Engine &e, LaunchClock &launch);
/// Has a block take as long as that of the earlier launch did, or longer where what all cores share
/// has less left than its bytes took then.
void repeatBlock(Engine &e, LaunchClock &launch, uint32_t span);
/// Whether a transfer that is done is one of `repeatBlock`, by its number.
bool isOfRepeated(uint32_t id);
/// That transfer is done, which may end its block.
void leaveRepeated(Engine &e, uint32_t id, Cycles time);
/// Notes that an instruction ran on this pipe.
void noteUse(Engine &e, const CoreClock &clock, Pipe pipe);
/// Adds the sums of a task that has ended to those of the run.
void countLaunch(Engine &e, LaunchClock &launch);

} // namespace ptl::rt::sim
