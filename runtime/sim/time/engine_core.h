// Cores in time: the scalar unit runs ahead of the pipes.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Advances a core as far as possible at the present time. False after an error.
bool progress(Engine &e, CoreClock &clock);

} // namespace ptl::rt::sim
