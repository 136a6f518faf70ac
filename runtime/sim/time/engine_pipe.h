// Pipes in time: they take their operations in order.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Lets a pipe do everything that it can do now, and returns whether it did anything. After an
/// error `failed` is set.
bool progressPipe(Engine &e, CoreClock &clock, Pipe pipe);
/// Ends the operation that runs on a pipe.
void endOperation(Engine &e, CoreClock &clock, Pipe pipe);

} // namespace ptl::rt::sim
