#include "runtime/sim/time/estimate.h"

#include <algorithm>

namespace ptl::rt::sim {

/// The first, the last, and one between them.
static constexpr int64_t kMostGroups = 3;
/// Runs with at most this number of operations are simulated whole.
static constexpr uint64_t kFewOperations = 15'000;
/// The same for runs whose cores signal to each other: a group that stands for others has its share of
/// the hub at all times, and in a short run a group has it when the others are silent. 30 ms.
static constexpr uint64_t kFewWithSignals = 40'000;
/// The same for runs whose core groups keep each other waiting at the rates of L2 and memory: few groups
/// that stand for others want the rates all at one time and leave them unused at another, where all of
/// them soon take turns. 80 ms.
static constexpr uint64_t kFewCrowded = 120'000;
/// Groups that wait for this part of the time of their transfers keep each other waiting.
static constexpr double kCrowded = 0.2;
/// Runs with more operations than this that cannot be sampled have no estimate.
static constexpr uint64_t kMostOperations = 200'000;
/// The same for runs in which some loops can be sampled and others cannot: some seconds.
static constexpr uint64_t kMostSampled = 3'000'000;

static TimeOptions partly() {
  TimeOptions how;
  how.sample = how.paces = true;
  how.mostGroups = kMostGroups;
  how.maxOperations = kMostSampled;
  return how;
}

/// The options for runs in which the cores of a group go through different loops.
static TimeOptions partlyApart() {
  TimeOptions how = partly();
  how.keepInnerQueues = true;
  how.maxOperations = kMostOperations;
  return how;
}

static TimeOptions whole(uint64_t mostOperations) {
  TimeOptions how;
  how.paces = true;
  how.limitTo(mostOperations);
  return how;
}

static bool isWhole(const Timeline &timeline) {
  return std::all_of(timeline.launches.begin(), timeline.launches.end(),
                     [](const LaunchSpan &launch) {
                       return launch.skipped == 0 && launch.standing == 0 && launch.like == kNoTask;
                     });
}

/// Whether cores signal to others. Where rounds may be left out, a group sees its share of the hub, and
/// not the hub itself: times are then not exact although nothing was left out.
static bool hasSignals(const Timeline &timeline) {
  for (size_t site = 0; site < timeline.sites.size(); ++site)
    if (timeline.sites[site].signals > 0 && timeline.totals[site].count > 0)
      return true;
  return false;
}

/// Whether groups that stand for others waited much for the rates that all cores share.
static bool isCrowded(const Timeline &timeline) {
  if (std::none_of(timeline.launches.begin(), timeline.launches.end(),
                   [](const LaunchSpan &launch) { return launch.standing > 0; }))
    return false;
  Cycles busy = 0, stall = 0;
  for (const SiteTotal &total : timeline.totals)
    if (total.stall > 0) {
      busy += total.busy;
      stall += total.stall;
    }
  return stall > kCrowded * busy;
}

/// Sampled runs with at most this number of operations are simulated whole.
static uint64_t fewOperations(const Timeline &timeline) {
  if (isCrowded(timeline))
    return kFewCrowded;
  return hasSignals(timeline) ? kFewWithSignals : kFewOperations;
}

/// The number of operations, those that others represented included.
static uint64_t operationsOf(const Timeline &timeline) {
  uint64_t sum = 0;
  for (const SiteTotal &total : timeline.totals)
    sum += total.count;
  return sum;
}

std::optional<Estimate> estimate(const RunInTime &runOnce, EstimateFor what) {
  Estimate result;
  Timeline &timeline = result.timeline;
  bool isTimeAlone = what == EstimateFor::TimeAlone;
  auto run = [&](TimeOptions how, Timeline &into) {
    how.record = !isTimeAlone;
    return runOnce(std::move(how), into);
  };
  // The sampled run comes first, since it tells how long a whole one would be: only short ones are simulated whole.
  bool isKnown = run(partly(), timeline), isExact = false;
  auto isOnlyPart = [&] { return !isWhole(timeline) || hasSignals(timeline); };
  uint64_t few = isKnown ? fewOperations(timeline) : kFewOperations;
  if (!isKnown || (isOnlyPart() && operationsOf(timeline) <= few)) {
    Timeline exact;
    if (run(whole(few), exact)) {
      timeline = std::move(exact);
      isKnown = isExact = true;
    }
  }
  // The cores of a group may not have left out the same rounds.
  if (!isKnown)
    isKnown = result.isApart = run(partlyApart(), timeline);
  if (!isKnown && !(isExact = run(whole(kMostOperations), timeline)))
    return std::nullopt;
  result.exact = isExact || !isOnlyPart();
  result.groupsOfChip = groupsOfChip(timeline);
  result.operations = operationsOf(timeline);
  if (!isTimeAlone)
    result.analysis = analyse(timeline, result.groupsOfChip);
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
