// Suggests what a designer of a kernel should look at first.
#include "runtime/sim/time/hints.h"

#include "runtime/sim/time/analysis_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace ptl::rt::sim {
namespace {

std::string rounded(double value, int digits = 1) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

class Hinter {
public:
  explicit Hinter(const Report &report) : r_(report), t_(report.timeline), a_(report.analysis) {}

  void cores();
  void tasks();
  void length();
  void shortness();
  void signals();
  void latency();
  void padding();
  void overlap();
  void again();
  std::vector<Hint> hints;

private:
  double gainOf(const std::string &what) const {
    for (const Gain &gain : a_.gains)
      if (gain.what == what && t_.end > 0)
        return (t_.end - gain.end) / t_.end;
    return 0;
  }
  void add(std::string text, SourceLocation location = {}, double gain = 0) {
    location.name.clear();
    hints.push_back({std::move(text), std::move(location), gain});
  }

  const Report &r_;
  const Timeline &t_;
  const Analysis &a_;
};

/// Core groups without work, or with much less than others.
void Hinter::cores() {
  // With several kernels the analysis of tasks says more.
  if (a_.tasks.kernels != 1)
    return;
  double uneven = t_.end > 0 ? a_.uneven / t_.end : 0;
  // The part of the unevenness that comes from core groups without any work.
  double idle = a_.idleGroups * a_.atWork / (std::max<double>(r_.groupsOfChip, 1) * t_.end);
  // Small effects are not worth a hint; the limits are shares of the whole time.
  if (idle > uneven / 2 && uneven > 0.05)
    add(std::to_string(a_.idleGroups) + " of " + std::to_string(r_.groupsOfChip) +
            " core groups have nothing to do: smaller tiles, or another loop made parallel, give "
            "them work",
        {}, uneven);
  else if (uneven > 0.1)
    add("core groups do not end at the same time: the number of tiles is no multiple of " +
            std::to_string(r_.groupsOfChip) + ", or some have more to do",
        {}, uneven);
}

/// Tasks that wait for each other only because of the memory that they use, and cores without
/// tasks.
void Hinter::tasks() {
  for (const Gain &gain : a_.gains) {
    // Below half a percent a hint would only distract.
    if (gain.task == kNoTask || t_.end - gain.end < 0.005 * t_.end)
      continue;
    std::string text =
        "task #" + std::to_string(gain.task) + " reads no results of the tasks that it waits for";
    for (const TaskEdge &edge : sharedMemoryEdges(t_.launches[gain.task]))
      text += ": #" + std::to_string(edge.before) +
              (edge.hazard == Hazard::WriteAfterWrite ? " writes `" : " reads `") + edge.array +
              "`, which it writes";
    add(text + "; with an array of its own it would not wait", t_.launches[gain.task].location,
        (t_.end - gain.end) / t_.end);
  }
  double idle = a_.tasks.whole > 0 ? 1 - a_.tasks.busy / a_.tasks.whole : 0;
  if (a_.tasks.kernels < 2 || idle < 0.5 || a_.tasks.groups.empty())
    return;
  // The group with most time in it comes first.
  const CoreGapGroup &longest = a_.tasks.groups.front();
  bool isOwn = longest.cause != TaskCause::Start && longest.cause != TaskCause::End;
  add("cores have no task for " + rounded(idle * 100, 0) + " % of the time, most of it because " +
          (isOwn ? describeGap(t_, longest)
                 : "tasks have fewer blocks than there are cores, or begin late"),
      isOwn ? t_.launches[longest.next].location : SourceLocation{});
}

void Hinter::length() {
  Cycles launch = 0;
  for (const char *part : {"launch", "orchestrator", "dispatch"})
    if (auto found = a_.pathByPart.find(part); found != a_.pathByPart.end())
      launch += found->second;
  double share = t_.end > 0 ? launch / t_.end : 0;
  if (share > 0.3)
    add("starting the kernels takes " + rounded(share * 100, 0) +
            " % of the time: more work for each kernel",
        {}, gainOf("the launch took no time"));
}

/// Pipes that wait for the scalar unit have operations that are done before the next one is issued.
void Hinter::shortness() {
  auto path = a_.pathByPart.find("scalar unit");
  double gain = gainOf("the scalar unit took no time");
  // Only a pipe that waits for the scalar unit for a good part of the time is worth the advice.
  if (path == a_.pathByPart.end() || path->second < 0.15 * t_.end || gain < 0.02)
    return;
  uint64_t operations = 0;
  Cycles busy = 0;
  for (size_t i = 0; i < t_.sites.size(); ++i)
    if (t_.sites[i].isWork()) {
      operations += t_.totals[i].count;
      busy += t_.totals[i].busy;
    }
  double each = operations ? t_.microseconds(busy / static_cast<double>(operations)) : 0;
  add("instructions are short, " + rounded(each, 2) +
          " us on average, and pipes wait for the scalar unit to issue them: larger tiles",
      {}, gain);
}

/// Cores tell each other more often than the chip hands on.
void Hinter::signals() {
  double gain = gainOf("signals between cores did not wait for each other");
  if (gain < 0.02)
    return;
  add("signals between cores go through a hub of the whole chip, which is taken " +
          rounded(a_.signalUse * 100, 0) +
          " % of the time: larger tiles are handed over with fewer signals",
      {}, gain);
}

/// Results are there only some time after their instruction has left its pipe; behind short
/// instructions nothing else is left to do in that time.
void Hinter::latency() {
  double gain = gainOf("results were there as soon as instructions left their pipe");
  if (a_.latency < kMuchLatency * t_.end || gain < 0.02)
    return;
  std::map<uint32_t, Cycles> waits;
  for (const PathPiece &piece : a_.path)
    if (piece.kind == PathPiece::Kind::Latency || piece.kind == PathPiece::Kind::Barrier)
      waits[t_.records[piece.record].site] += piece.length();
  auto most = std::max_element(waits.begin(), waits.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  add("instructions have left their pipe and their results are waited for " +
          rounded(100 * a_.latency / t_.end, 0) +
          " % of the time, which is as long for short ones as for long ones: larger tiles, or "
          "something else to do between them and what needs them",
      t_.sites[most->first].location, gain);
}

/// Steps of products and repeats of the vector unit that are partly empty.
void Hinter::padding() {
  double gain = gainOf("extents were multiples of what instructions work on");
  if (gain < 0.02)
    return;
  const Site *dearest = nullptr;
  // The instruction that takes most time is shown as an example.
  Cycles most = 0;
  for (size_t i = 0; i < t_.sites.size(); ++i)
    if ((t_.sites[i].pipe == Pipe::M || t_.sites[i].pipe == Pipe::V) && t_.totals[i].busy > most) {
      most = t_.totals[i].busy;
      dearest = &t_.sites[i];
    }
  add("tiles are no multiples of what instructions work on at once (boxes of products, repeats of "
      "the vector unit), and the rest is done for nothing: other tile sizes",
      dearest ? dearest->location : SourceLocation{}, gain);
}

/// One pipe after the other, none of them busy.
void Hinter::overlap() {
  if (a_.pipes.empty() || a_.pipes.front().share > 0.65)
    // If one pipe is busy most of the time, overlap is good enough.
    return;
  if (a_.atWork < 0.3 * t_.end)
    return;
  // Groups are sorted by time, so the first one on the critical path is told.
  for (const GapGroup &group : a_.groups) {
    if (group.critical <= 0 || group.cause == Cause::Start)
      continue;
    double gain = 0;
    for (const Gain &each : a_.gains)
      if (each.gap != kNoRecord && &a_.groups[each.gap] == &group)
        gain = (t_.end - each.end) / t_.end;
    add("pipes work one after the other, the busiest " + rounded(a_.pipes.front().share * 100, 0) +
            " % of the time: " + describeGap(t_, group),
        t_.sites[group.next].location, gain);
    return;
  }
}

/// Loads that bring the same bytes several times.
void Hinter::again() {
  if (a_.pipes.empty() || a_.pipes.front().pipe != Pipe::MTE2 || t_.missed <= 0)
    return;
  // Bytes that cross to the cores against bytes that miss the second-level cache.
  double times = static_cast<double>(t_.bytes) / static_cast<double>(t_.missed);
  if (times < 4)
    return;
  const Site *dearest = nullptr;
  Cycles most = 0;
  for (size_t i = 0; i < t_.sites.size(); ++i)
    if (t_.sites[i].pipe == Pipe::MTE2 && t_.totals[i].busy > most) {
      most = t_.totals[i].busy;
      dearest = &t_.sites[i];
    }
  add("each byte crosses between L2 and the cores " + rounded(times, 0) +
          " times: larger tiles read operands less often",
      dearest ? dearest->location : SourceLocation{}, gainOf("pipe mte2 took no time"));
}

} // namespace

std::vector<Hint> hintsOf(const Report &report) {
  Hinter hinter(report);
  hinter.cores();
  hinter.tasks();
  hinter.length();
  hinter.shortness();
  hinter.signals();
  hinter.latency();
  hinter.padding();
  hinter.overlap();
  hinter.again();
  // The hint that gains most is told first.
  std::stable_sort(hinter.hints.begin(), hinter.hints.end(),
                   [](const Hint &a, const Hint &b) { return a.gain > b.gain; });
  return std::move(hinter.hints);
}

} // namespace ptl::rt::sim
