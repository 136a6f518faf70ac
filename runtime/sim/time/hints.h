// What a report suggests.
#pragma once

#include "runtime/sim/time/report.h"

namespace ptl::rt::sim {

std::vector<Hint> hintsOf(const Report &report);

} // namespace ptl::rt::sim
