// Launches that are assumed to run like an earlier one from the same place of the program. They are
// not simulated; their blocks occupy the cores for as long as the earlier ones did.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Decides, when a launch begins, whether it is simulated.
void takeTurn(Engine &e, LaunchClock &launch);
/// Notes that an instruction ran on this pipe.
void noteUse(Engine &e, const CoreClock &clock, Pipe pipe);
/// Adds the sums of a task that has ended to those of the run.
void countLaunch(Engine &e, LaunchClock &launch);

} // namespace ptl::rt::sim
