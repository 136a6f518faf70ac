// Cores in time: the scalar unit runs ahead of its pipes.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Lets a core do everything that it can do now. False after an error.
bool progress(Engine &e, CoreClock &clock);

} // namespace ptl::rt::sim
