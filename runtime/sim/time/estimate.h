// Estimates times without simulating everything, for editors that show them while the user types.
#pragma once

#include "runtime/sim/time/report.h"

#include <functional>
#include <optional>

namespace ptl::rt::sim {

/// Runs a program with timing. False if it stopped.
using RunInTime = std::function<bool(TimeOptions, Timeline &)>;

/// A time for which iterations of loops represented others. The timeline has the represented
/// iterations as one record on each pipe; totals and times are those of the whole.
struct Estimate {
  bool exact = false; ///< everything was simulated
  /// inner loops with queues were simulated completely (`TimeOptions::keepInnerQueues`)
  bool isApart = false;
  Timeline timeline;
  Analysis analysis;
  int64_t groupsOfChip = 0;
  uint64_t operations = 0; ///< of all pipes, including represented ones
  double microseconds() const { return timeline.microseconds(timeline.end); }
};

/// What an estimate is for: computing the time alone takes a third less than with the data for
/// explanations.
enum class EstimateFor : uint8_t { Everything, TimeAlone };

/// Nothing if the program stops.
std::optional<Estimate> estimate(const RunInTime &run, EstimateFor what = EstimateFor::Everything);
/// Repeats the estimate with something at no cost; `first` is the original estimate.
Cycles estimateAgain(const RunInTime &run, const Estimate &first, const WhatIf &what);

} // namespace ptl::rt::sim
