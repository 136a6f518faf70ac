// Computes possible gains by repeating the run with something at no cost.
#include "runtime/sim/time/gains.h"

#include "runtime/sim/time/analysis_tasks.h"

#include <algorithm>
#include <set>

namespace ptl::rt::sim {

/// Finds the operations on events that belong together: those that set what a wait takes, the other
/// waits that these serve, and so on.
static std::vector<uint32_t> pairsOf(const Timeline &timeline, uint32_t wait) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Record &record : timeline.records)
    if (timeline.sites[record.site].kind == StepKind::WaitFlag && record.setter != kNoRecord)
      pairs.insert({record.site, timeline.records[record.setter].site});
  std::set<uint32_t> members{wait};
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto &[waits, sets] : pairs)
      if (members.count(waits) != members.count(sets)) {
        members.insert({waits, sets});
        grows = true;
      }
  }
  return {members.begin(), members.end()};
}

static void ask(Analysis &analysis, const Rerun &rerun, const WhatIf &what, std::string name,
                uint32_t gap = kNoRecord) {
  analysis.gains.push_back({std::move(name), rerun(what), gap, kNoTask});
}

/// Tasks of the critical path that wait for one whose results they do not read.
static void askAboutMemory(const Timeline &timeline, Analysis &analysis, const Rerun &rerun) {
  // Each question is another run of the whole program, so only the first few tasks of the path are
  // asked about.
  int left = 3;
  for (uint32_t task : analysis.tasks.path) {
    const LaunchSpan &launch = timeline.launches[task];
    if (launch.cause != TaskCause::Dependence || left <= 0)
      continue;
    WhatIf what;
    bool isWaitedFor = false;
    std::string name;
    for (const TaskEdge &edge : sharedMemoryEdges(launch)) {
      what.unordered.push_back({task, edge.before});
      isWaitedFor |= edge.before == launch.waitedFor;
      name += (name.empty() ? "`" : ", `") + edge.array + "`";
    }
    if (!isWaitedFor)
      continue;
    --left;
    analysis.gains.push_back({"#" + std::to_string(task) + " had " + name + " for itself",
                              rerun(what), kNoRecord, task});
  }
}

void addGains(const Timeline &timeline, Analysis &analysis, const Rerun &rerun, bool forHints) {
  std::set<Pipe> asked;
  for (const PipeUse &use : analysis.pipes)
    // A pipe that is hardly busy gains nothing; hints speak of loads alone, which an author can
    // change.
    if (use.share > 0.05 && (!forHints || use.pipe == Pipe::MTE2) &&
        asked.insert(use.pipe).second) {
      WhatIf what;
      what.pipe[static_cast<size_t>(use.pipe)] = true;
      ask(analysis, rerun, what, "pipe " + std::string(pipeName(use.pipe)) + " took no time");
    }
  auto share = [&](const char *part) {
    auto found = analysis.pathByPart.find(part);
    return found != analysis.pathByPart.end() && found->second > 0.005 * timeline.end;
  };
  WhatIf what;
  what.shared = true;
  if (timeline.bytes > 0 && !forHints)
    ask(analysis, rerun, what,
        "every core had the bandwidth of L2 to itself, and all data were in L2");
  what = {};
  what.crossCore = true;
  if (share("core to core") && !forHints)
    ask(analysis, rerun, what, "signals between cores took no time");
  what = {};
  what.signals = true;
  if (share("signal hub"))
    ask(analysis, rerun, what, "signals between cores did not wait for each other");
  what = {};
  what.scalar = true;
  if (share("scalar unit"))
    ask(analysis, rerun, what, "the scalar unit took no time");
  what = {};
  what.latency = true;
  if (analysis.latency > (forHints ? kMuchLatency : 0.005) * timeline.end)
    ask(analysis, rerun, what, "results were there as soon as instructions left their pipe");
  what = {};
  what.launch = true;
  if (share("launch"))
    ask(analysis, rerun, what, "the launch took no time");
  what = {};
  what.padding = true;
  ask(analysis, rerun, what, "extents were multiples of what instructions work on");
  askAboutMemory(timeline, analysis, rerun);
  int left = forHints ? 1 : 3;
  for (uint32_t i = 0; i < analysis.groups.size() && left > 0; ++i) {
    const GapGroup &group = analysis.groups[i];
    if (group.cause != Cause::Event || timeline.sites[group.wait].kind != StepKind::WaitFlag)
      continue;
    --left;
    what = {};
    what.without = pairsOf(timeline, group.wait);
    ask(analysis, rerun, what, describeSite(timeline.sites[group.next]) + " did not wait there", i);
  }
  // The largest gain is shown first, and equal ones in the order in which they were asked for.
  std::stable_sort(analysis.gains.begin(), analysis.gains.end(),
                   [](const Gain &a, const Gain &b) { return a.end < b.end; });
}

} // namespace ptl::rt::sim
