// Pipes in time: they take their operations in order.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Does all that a pipe can do now; whether that was anything. After an error `failed` is set.
bool progressPipe(Engine &e, CoreClock &clock, Pipe pipe);
/// The operation that runs has ended. False after an error.
bool endOperation(Engine &e, CoreClock &clock, Pipe pipe);

} // namespace ptl::rt::sim
