// What a core waits for, in words, for a run in which nothing can go on.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// An event between two pipes: `[V, MTE3, 0]`.
std::string eventText(const Flag &event);

/// One line for each pipe that waits, the scalar unit among them.
std::string describeWaits(const CoreState &core);

} // namespace ptl::rt::sim
