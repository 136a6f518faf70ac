// Describes what a core waits for, for messages about deadlocks.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// An event between two pipes: `[V, MTE3, 0]`.
std::string eventText(const Flag &event);

/// One line for each waiting pipe, including the scalar unit.
std::string describeWaits(const CoreState &core);

} // namespace ptl::rt::sim
