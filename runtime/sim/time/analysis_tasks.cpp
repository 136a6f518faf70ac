// Tasks on cores: how many run at the same time, and why cores have none.

#include "runtime/sim/time/analysis_tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ptl::rt::sim {
namespace {

/// Shorter stretches are no gaps.
constexpr Cycles shortest = 1;

class TaskAnalyser {
public:
  TaskAnalyser(const Timeline &timeline, TaskAnalysis &result) : t_(timeline), result_(result) {}

  void cores();
  void atOnce();
  void gaps();
  void storage();

private:
  CoreGap gapBetween(uint32_t core, Cycles start, Cycles end, uint32_t next) const;
  uint32_t nextBegun(bool cube, Cycles after) const;

  const Timeline &t_;
  TaskAnalysis &result_;
  std::vector<uint32_t> byBegin_[2]; ///< tasks for vector and for cube cores
};

void TaskAnalyser::cores() {
  bool uses[2] = {};
  for (const LaunchSpan &launch : t_.launches) {
    uses[0] |= launch.vector;
    uses[1] |= launch.cube;
    result_.kernels += !launch.kernel.empty();
    // A task may use both kinds of cores, and then counts for each.
    for (bool cube : {false, true})
      if (cube ? launch.cube : launch.vector)
        byBegin_[cube].push_back(static_cast<uint32_t>(&launch - t_.launches.data()));
  }
  for (std::vector<uint32_t> &tasks : byBegin_)
    std::stable_sort(tasks.begin(), tasks.end(), [&](uint32_t a, uint32_t b) {
      return t_.launches[a].begun < t_.launches[b].begun;
    });
  std::vector<size_t> place(t_.lanes.size() / kNumPipes, SIZE_MAX);
  for (uint32_t core = 0; core < place.size(); ++core)
    // Only kinds of cores that some task uses are part of the time.
    if (uses[t_.lanes[core * kNumPipes].cube]) {
      place[core] = result_.cores.size();
      result_.cores.push_back({core, {}, 0});
    }
  result_.whole = static_cast<double>(result_.cores.size()) * t_.end;
  std::vector<std::set<uint32_t>> coresOf(t_.launches.size());
  for (uint32_t number = 0; number < t_.blocks.size(); ++number) {
    const BlockSpan &block = t_.blocks[number];
    if (!block.works)
      continue;
    for (uint32_t core : block.cores) {
      CoreUse &use = result_.cores[place[core]];
      use.blocks.push_back(number);
      use.busy += block.end - block.begun;
      result_.busy += block.end - block.begun;
      coresOf[block.launch].insert(core);
    }
  }
  for (const std::set<uint32_t> &cores : coresOf)
    result_.coresOf.push_back(static_cast<uint32_t>(cores.size()));
}

void TaskAnalyser::atOnce() {
  std::vector<std::pair<Cycles, int32_t>> changes;
  for (const LaunchSpan &launch : t_.launches)
    if (!launch.kernel.empty() && launch.end > launch.begun) {
      changes.push_back({launch.begun, 1});
      changes.push_back({launch.end, -1});
    }
  std::sort(changes.begin(), changes.end()); // ends first
  // A sweep over begins and ends; at one time ends come first, so that tasks that follow each other
  // are not at once.
  int32_t present = 0;
  for (auto [time, change] : changes)
    result_.atOnce = std::max(result_.atOnce, present += change);
}

/// The task for this kind of core that was the next to begin.
uint32_t TaskAnalyser::nextBegun(bool cube, Cycles after) const {
  const std::vector<uint32_t> &tasks = byBegin_[cube];
  auto next =
      // Very short stretches are no gaps, so what begins within one counts as begun.
      std::upper_bound(tasks.begin(), tasks.end(), after + shortest,
                       [&](Cycles time, uint32_t task) { return time < t_.launches[task].begun; });
  return next == tasks.end() ? kNoTask : *next;
}

/// The cause of most of the time in which a core waited for a task: the orchestrator had not come
/// to it, a task that it depends on had not ended, or no scheduler was free.
CoreGap TaskAnalyser::gapBetween(uint32_t core, Cycles start, Cycles end, uint32_t next) const {
  CoreGap gap{core, start, end, TaskCause::End, next, kNoTask};
  if (next == kNoTask)
    return gap;
  const LaunchSpan &launch = t_.launches[next];
  Cycles from = start;
  Cycles most = -1;
  auto consider = [&](Cycles until, TaskCause cause) {
    // Each cause gets the part of the gap up to its end, and the longest part wins.
    Cycles took = std::min(until, end) - from;
    if (took > most) {
      most = took;
      gap.cause = cause;
    }
    from = std::max(from, std::min(until, end));
  };
  if (launch.cause == TaskCause::Start) {
    gap.cause = TaskCause::Start;
    return gap;
  }
  // Before the orchestrator goes on, it waits for a task itself.
  // The waits come in the order in which they happen.
  if (launch.awaitedTask != kNoTask && launch.awaited > from)
    consider(launch.awaited, TaskCause::Dependence);
  consider(launch.submitted, TaskCause::Submit);
  if (launch.cause == TaskCause::Dependence)
    consider(launch.ready, TaskCause::Dependence);
  consider(launch.begun, TaskCause::Dispatch);
  consider(end, TaskCause::Cores);
  if (gap.cause == TaskCause::Dependence) {
    // The blocker is what the orchestrator waited for, unless the task itself waited.
    bool isAwaited = launch.cause != TaskCause::Dependence;
    gap.blocker = isAwaited ? launch.awaitedTask : launch.waitedFor;
  }
  return gap;
}

void TaskAnalyser::gaps() {
  for (const CoreUse &use : result_.cores) {
    bool cube = t_.lanes[use.core * kNumPipes].cube;
    Cycles from = 0;
    auto add = [&](Cycles until, uint32_t next) {
      // While it waits for its next task, others may have begun and ended without it.
      while (until - from > shortest) {
        uint32_t other = nextBegun(cube, from);
        bool isBefore = other != kNoTask && t_.launches[other].begun < until - shortest;
        Cycles end = isBefore ? t_.launches[other].begun : until;
        result_.gaps.push_back(gapBetween(use.core, from, end, isBefore ? other : next));
        from = end;
      }
    };
    for (uint32_t number : use.blocks) {
      add(t_.blocks[number].begun, t_.blocks[number].launch);
      from = std::max(from, t_.blocks[number].end);
    }
    // Behind its last block the core has nothing left to do.
    add(t_.end, kNoTask);
  }
  std::map<std::tuple<TaskCause, uint32_t, uint32_t>, std::pair<CoreGapGroup, std::set<uint32_t>>>
      groups;
  for (const CoreGap &gap : result_.gaps) {
    auto &[group, cores] = groups[{gap.cause, gap.next, gap.blocker}];
    group.cause = gap.cause;
    group.next = gap.next;
    group.blocker = gap.blocker;
    group.total += gap.end - gap.start;
    cores.insert(gap.core);
  }
  for (auto &[key, entry] : groups) {
    entry.first.cores = static_cast<uint32_t>(entry.second.size());
    result_.groups.push_back(entry.first);
  }
  std::stable_sort(result_.groups.begin(), result_.groups.end(),
                   [](const CoreGapGroup &a, const CoreGapGroup &b) { return a.total > b.total; });
}

void TaskAnalyser::storage() {
  struct Life {
    uint32_t first = kNoTask, last = kNoTask;
    Cycles start = 0, end = 0;
  };
  std::map<uint32_t, Life> lives;
  for (uint32_t task = 0; task < t_.launches.size(); ++task)
    for (uint32_t array : t_.launches[task].arrays) {
      if (!t_.arrays[array].isIntermediate)
        continue;
      const LaunchSpan &launch = t_.launches[task];
      // An array lives from its first task to its last.
      auto [place, fresh] = lives.try_emplace(array, Life{task, task, launch.begun, launch.end});
      place->second.last = task;
      place->second.start = std::min(place->second.start, launch.begun);
      place->second.end = std::max(place->second.end, launch.end);
    }
  // At equal times an array that ends frees its bytes before another begins.
  std::vector<std::tuple<Cycles, int, int64_t>> byTime, byOrder;
  for (const auto &[array, life] : lives) {
    int64_t bytes = t_.arrays[array].bytes;
    result_.storage.unshared += bytes;
    // The second number sorts ends before begins by time, and begins before ends in program order.
    byTime.push_back({life.start, 1, bytes});
    byTime.push_back({std::max(life.end, life.start), 0, -bytes});
    byOrder.push_back({life.first, 0, bytes});
    byOrder.push_back({life.last, 1, -bytes});
  }
  auto peakOf = [](auto &changes) {
    std::sort(changes.begin(), changes.end());
    int64_t live = 0, peak = 0;
    for (const auto &[at, order, bytes] : changes)
      peak = std::max(peak, live += bytes);
    return peak;
  };
  result_.storage.peak = peakOf(byTime);
  result_.storage.inOrder = peakOf(byOrder);
}

std::string numberOf(uint32_t task) { return "#" + std::to_string(task); }

} // namespace

TaskAnalysis analyseTasks(const Timeline &timeline) {
  TaskAnalysis result;
  TaskAnalyser analyser(timeline, result);
  analyser.cores();
  analyser.atOnce();
  analyser.gaps();
  analyser.storage();
  return result;
}

std::string describeTask(const Timeline &timeline, uint32_t task) {
  const LaunchSpan &launch = timeline.launches[task];
  std::string text = launch.kernel.empty() ? "a copy of the host" : "`" + launch.kernel + "`";
  if (!launch.name.empty())
    text = "task `" + launch.name + "`: " + text;
  if (!launch.writes.empty())
    text += ", which writes `" + launch.writes + "`";
  std::string place = toString(launch.location);
  return text + (place.empty() ? "" : " (" + place + ")");
}

std::vector<TaskEdge> sharedMemoryEdges(const LaunchSpan &launch) {
  std::vector<TaskEdge> edges;
  for (const TaskEdge &edge : launch.waitsFor)
    if (edge.hazard != Hazard::ReadAfterWrite)
      edges.push_back(edge);
  return edges;
}

std::string describeWait(const Timeline &timeline, uint32_t task) {
  const LaunchSpan &launch = timeline.launches[task];
  switch (launch.cause) {
  case TaskCause::Start:
    return "the start of the program";
  case TaskCause::Submit:
    if (launch.awaitedTask != kNoTask)
      return "the orchestrator, which waited for " + numberOf(launch.awaitedTask);
    return "the orchestrator";
  default:
    break;
  }
  // Of all tasks that it waited for, the last one that ended is named, with what made it wait.
  std::string text = numberOf(launch.waitedFor);
  for (const TaskEdge &edge : launch.waitsFor)
    if (edge.before == launch.waitedFor)
      text += ": " + std::string(hazardNames[static_cast<size_t>(edge.hazard)]) +
              (edge.array.empty() ? "" : " of `" + edge.array + "`");
  return text;
}

std::string describeGap(const Timeline &timeline, const CoreGapGroup &group) {
  if (group.cause == TaskCause::End || group.next == kNoTask)
    return "nothing is left for them";
  std::string text = numberOf(group.next);
  switch (group.cause) {
  case TaskCause::Dispatch:
    return text + " waits for a scheduler";
  case TaskCause::Cores:
    return text + " has no block for them";
  case TaskCause::Dependence:
    if (timeline.launches[group.next].waitedFor != group.blocker)
      return text + " waits for the orchestrator, which waits for " + numberOf(group.blocker);
    [[fallthrough]];
  default:
    return text + " waits for " + describeWait(timeline, group.next);
  }
}

} // namespace ptl::rt::sim
