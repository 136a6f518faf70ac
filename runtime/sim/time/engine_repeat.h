// Launches that are taken to run like an earlier one of the same place of the program: nothing of
// them is run, their blocks take the cores as long as those of the other did.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Where a launch begins: whether it is run.
void takeTurn(Engine &e, LaunchClock &launch);
/// An instruction was on this pipe.
void noteUse(Engine &e, const CoreClock &clock, Pipe pipe);
/// A task has ended: what it came to counts.
void countLaunch(Engine &e, LaunchClock &launch);

} // namespace ptl::rt::sim
