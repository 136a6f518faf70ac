// Events in order of time, and transfers that have got all their bytes.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Lets time pass until `isDone()`. False after an error, which includes that nothing can happen
/// any more although it is not done.
bool runUntil(Engine &e, const std::function<bool()> &isDone);

} // namespace ptl::rt::sim
