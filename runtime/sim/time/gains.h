// What could be gained.
#pragma once

#include "runtime/sim/time/analysis.h"

namespace ptl::rt::sim {

/// Computes what would be gained if each pipe or resource on which the run spends time cost
/// nothing, and likewise the most expensive waits; with `forHints` only what hints need.
void addGains(const Timeline &timeline, Analysis &analysis, const Rerun &rerun,
              bool forHints = false);

} // namespace ptl::rt::sim
