// Blocks of tasks on core groups: how they begin, how their cores signal each other, and how they
// end.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Adds the steps of a kernel to the sites of the timeline if they are not there.
void addSites(Engine &e, const Kernel &kernel);
/// Chooses a few blocks that represent all, where there are no more blocks than core groups.
void chooseGroups(Engine &e, LaunchClock &launch);
/// Skips a block that another one represents, and returns true; false if it has to run. It takes as
/// long as the other one, which is one of this launch or of an earlier launch like it, or no time if
/// it has no work.
bool skipRepresented(Engine &e, LaunchClock &launch, uint32_t span);
/// Starts the block on its cores.
void beginBlock(Engine &e, LaunchClock &launch, uint32_t span);
/// Removes a group that has nothing more to do. False after an error.
bool endGroup(Engine &e, GroupClock &clock);

} // namespace ptl::rt::sim
