// Computes times without running everything, for what editors show while the user types.
#pragma once

#include "runtime/sim/time/report.h"

#include <functional>
#include <optional>

namespace ptl::rt::sim {

/// Runs a program in time. False if it stopped.
using RunInTime = std::function<bool(TimeOptions, Timeline &)>;

/// A time for which rounds of loops represented others. The timeline has those rounds as one record
/// on each pipe; sums and times are those of the whole.
struct Estimate {
  bool exact = false;   ///< everything was run
  bool isApart = false; ///< inner loops with queues were run whole (`TimeOptions::keepInnerQueues`)
  Timeline timeline;
  Analysis analysis;
  int64_t groupsOfChip = 0;
  uint64_t operations = 0; ///< of all pipes, those that others stood for included
  double microseconds() const { return timeline.microseconds(timeline.end); }
};

/// What is wanted of an estimate: the time alone takes a third less than with all that explains it.
enum class EstimateFor : uint8_t { Everything, TimeAlone };

/// Nothing if the program stops.
std::optional<Estimate> estimate(const RunInTime &run, EstimateFor what = EstimateFor::Everything);
/// Estimates the time with something at no cost; `first` is the estimate without.
Cycles estimateAgain(const RunInTime &run, const Estimate &first, const WhatIf &what);

} // namespace ptl::rt::sim
