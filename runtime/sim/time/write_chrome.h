// A timeline for Chrome and Perfetto.
#pragma once

#include "runtime/sim/time/report.h"

namespace ptl::rt::sim {

/// A trace for Perfetto and Chrome: lanes for pipes, arrows for dependences, counters for buffers
/// and bandwidth.
std::string writeChromeTrace(const Report &report);

} // namespace ptl::rt::sim
