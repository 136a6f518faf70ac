// Blocks of tasks on core groups: their start, signals between their cores, and their end.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Adds the steps of a kernel to the sites of the timeline, unless they are there.
void addSites(Engine &e, const Kernel &kernel);
/// Chooses a few blocks that represent all, if there are at most as many blocks as core groups.
void chooseGroups(Engine &e, LaunchClock &launch);
/// Skips a block that another one represents, and returns true; false if it must be simulated. It
/// takes as long as the other one, which belongs to this launch or to an earlier launch like it, or
/// no time if it has no work.
bool skipRepresented(Engine &e, LaunchClock &launch, uint32_t span);
/// Starts the block on its cores.
void beginBlock(Engine &e, LaunchClock &launch, uint32_t span);
/// Removes a group that has finished. False after an error.
bool endGroup(Engine &e, GroupClock &clock);

} // namespace ptl::rt::sim
