// Handles events in order of time, and completed transfers.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Advances time until `isDone()`. False after an error, which includes a deadlock.
bool runUntil(Engine &e, const std::function<bool()> &isDone);

} // namespace ptl::rt::sim
