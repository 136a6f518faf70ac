// What happens next: events in order of time, and transfers that have all their bytes.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Lets time pass until it is done. False after an error, also when nothing can happen any more and
/// it is not done.
bool runUntil(Engine &e, const std::function<bool()> &isDone);

} // namespace ptl::rt::sim
