#include "runtime/sim/time/estimate.h"

#include <algorithm>

namespace ptl::rt::sim {

/// The first, the last, and one between them.
static constexpr int64_t kMostGroups = 3;
/// What takes no longer than this is run as it is.
static constexpr uint64_t kFewOperations = 15'000;
/// What takes longer than this, and cannot be told of by parts, has no time.
static constexpr uint64_t kMostOperations = 200'000;

static TimeOptions partly() {
  TimeOptions how;
  how.sample = how.paces = true;
  how.mostGroups = kMostGroups;
  return how;
}

/// Where the cores of a group go through different loops.
static TimeOptions partlyApart() {
  TimeOptions how = partly();
  how.keepInnerQueues = true;
  how.maxOperations = kMostOperations;
  return how;
}

std::optional<Estimate> estimate(const RunInTime &run) {
  Estimate result;
  TimeOptions whole;
  whole.paces = true;
  whole.maxOperations = kFewOperations;
  bool ok = run(whole, result.timeline) || run(partly(), result.timeline);
  // The cores of a group may not have left out the same rounds.
  bool isApart = !ok && run(partlyApart(), result.timeline);
  ok |= isApart;
  whole.maxOperations = kMostOperations;
  if (!ok && !run(whole, result.timeline))
    return std::nullopt;
  const std::vector<LaunchSpan> &launches = result.timeline.launches;
  result.exact = std::all_of(launches.begin(), launches.end(), [](const LaunchSpan &launch) {
    return launch.skipped == 0 && launch.standing == 0;
  });
  result.isApart = isApart;
  result.groupsOfChip = groupsOfChip(result.timeline);
  result.analysis = analyse(result.timeline, result.groupsOfChip);
  auto standing = std::find_if(launches.rbegin(), launches.rend(),
                               [](const LaunchSpan &launch) { return launch.standing > 0; });
  if (standing != launches.rend())
    for (PipeUse &use : result.analysis.pipes)
      use.lanes =
          use.lanes * result.analysis.groupsAtWork / static_cast<int32_t>(standing->standing);
  return result;
}

Cycles estimateAgain(const RunInTime &run, const Estimate &first, const WhatIf &what) {
  TimeOptions how = first.exact ? TimeOptions() : first.isApart ? partlyApart() : partly();
  how.record = false;
  how.whatIf = what;
  Timeline timeline;
  return run(how, timeline) ? timeline.end : first.timeline.end;
}

} // namespace ptl::rt::sim
