// Pipes in time: they execute their operations in order.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Advances a pipe as far as possible at the present time, and returns whether it advanced. After
/// an error `failed` is set.
bool progressPipe(Engine &e, CoreClock &clock, Pipe pipe);
/// Ends the running operation of a pipe.
void endOperation(Engine &e, CoreClock &clock, Pipe pipe);

} // namespace ptl::rt::sim
