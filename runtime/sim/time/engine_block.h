// Blocks of tasks on core groups: where they begin, what their cores tell each other, where they
// end.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Enters the steps of a kernel as sites of the timeline, if they are not there.
void addSites(Engine &e, const Kernel &kernel);
/// Of as many blocks as there are core groups some may stand for all.
void chooseGroups(Engine &e, LaunchClock &launch);
/// Whether another block runs in the place of this one: it takes as long as that, and no time if it
/// has no work.
bool standsBack(Engine &e, LaunchClock &launch, uint32_t span);
/// Puts the block on its cores.
void beginBlock(Engine &e, LaunchClock &launch, uint32_t span);
/// Gives up the clock of a group that has nothing more to do. False after an error.
bool endGroup(Engine &e, GroupClock &clock);

} // namespace ptl::rt::sim
