// The trace format of Chrome, which Perfetto reads: a process for each core, a thread for each
// pipe.
#include "runtime/sim/time/write_chrome.h"

#include "runtime/sim/time/analysis_tasks.h"
#include "runtime/trace/chrome_events.h"
#include "runtime/trace/lane_text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ptl::rt::sim {
namespace {

class Trace {
public:
  explicit Trace(const Report &report) : t_(report.timeline), a_(report.analysis) {}

  std::string write() {
    names();
    blocks();
    for (uint32_t i = 0; i < t_.records.size(); ++i)
      if (t_.sites[t_.records[i].site].isWork())
        task(i);
    arrows();
    bandwidth();
    buffers();
    return events_.take();
  }

private:
  double us(Cycles cycles) const { return t_.microseconds(cycles); }
  static trace::Track trackOf(const Lane &lane) {
    return {(lane.cube ? 1000 : 2000) + lane.number, static_cast<int>(lane.pipe)};
  }
  static trace::Track trackOfCore(uint32_t core) { return {0, static_cast<int>(core)}; }
  void names();
  void blocks();
  void task(uint32_t index);
  void arrows();
  void bandwidth();
  void buffers();

  const Timeline &t_;
  const Analysis &a_;
  trace::ChromeEvents events_;
};

void Trace::names() {
  events_.nameProcess(0, "tasks", 0);
  for (const CoreUse &use : a_.tasks.cores)
    events_.nameThread(trackOfCore(use.core), t_.coreName(use.core));
  std::map<int, bool> named;
  for (const LaneUse &use : a_.lanes) {
    const Lane &lane = t_.lanes[use.lane];
    trace::Track track = trackOf(lane);
    if (!std::exchange(named[track.process], true))
      events_.nameProcess(track.process, lane.core(), track.process);
    events_.nameThread(track, pipeName(lane.pipe));
  }
}

/// Tasks on cores, and arrows for what they waited for.
void Trace::blocks() {
  for (const CoreUse &use : a_.tasks.cores)
    for (uint32_t number : use.blocks) {
      const BlockSpan &block = t_.blocks[number];
      const LaunchSpan &launch = t_.launches[block.launch];
      events_.task(launch.name.empty() ? launch.kernel : launch.name, trackOfCore(use.core),
                   us(block.begun), us(block.end - block.begun),
                   "\"task\": " + std::to_string(block.launch) +
                       ", \"kernel\": " + trace::ChromeEvents::quoted(launch.kernel) +
                       ", \"block\": " + std::to_string(block.block) + ", \"source\": " +
                       trace::ChromeEvents::quoted(toString(launch.location)) + ", \"after\": " +
                       trace::ChromeEvents::quoted(describeWait(t_, block.launch)));
    }
  for (const LaunchSpan &launch : t_.launches) {
    // Arrows are for what data made wait; a task that waited for cores or for its submission has
    // none.
    if (launch.cause != TaskCause::Dependence || launch.lastBlock == kNoTask)
      continue;
    uint32_t from = t_.launches[launch.waitedFor].lastBlock;
    if (from == kNoTask)
      continue;
    uint32_t to = t_.blocks[launch.lastBlock].cores.front();
    events_.arrow(trackOfCore(t_.blocks[from].cores.front()), us(t_.blocks[from].end - 1),
                  trackOfCore(to), us(launch.begun));
  }
}

void Trace::task(uint32_t index) {
  const Record &record = t_.records[index];
  const Site &site = t_.sites[record.site];
  auto quoted = trace::ChromeEvents::quoted;
  std::string arguments = "\"source\": " + quoted(toString(site.location));
  if (!site.location.name.empty())
    arguments += ", \"value\": " + quoted(site.location.name);
  arguments += ", \"kernel\": " + quoted(site.kernel);
  if (record.stall > 0.5)
    arguments += ", \"waits for shared memory\": " + trace::fixed(us(record.stall), 4);
  events_.task(site.name, trackOf(t_.lanes[record.lane]), us(record.start),
               us(record.end - record.start), arguments);
}

/// From what ended to what waited for it.
void Trace::arrows() {
  for (const Gap &gap : a_.gaps) {
    if (gap.blocker == kNoRecord)
      continue;
    const Record &from = t_.records[gap.blocker], &to = t_.records[gap.next];
    events_.arrow(trackOf(t_.lanes[from.lane]), us(std::max(from.start, from.end - 1)),
                  trackOf(t_.lanes[to.lane]), us(to.start));
  }
}

void Trace::bandwidth() {
  if (t_.traffic.empty() || t_.end <= 0)
    return;
  constexpr size_t slices = 400;
  std::vector<double> all(slices + 1), missed(slices + 1);
  double width = t_.end / slices;
  for (const TrafficPoint &point : t_.traffic) {
    auto first = static_cast<size_t>(std::clamp(point.time / width, 0.0, double(slices - 1)));
    auto last = static_cast<size_t>(std::clamp(point.until / width, 0.0, double(slices - 1)));
    for (size_t i = first; i <= last; ++i) {
      all[i] += static_cast<double>(point.bytes) / static_cast<double>(last - first + 1);
      missed[i] += static_cast<double>(point.missed) / static_cast<double>(last - first + 1);
    }
  }
  double perSlice = t_.microseconds(width) * 1e3; // bytes per nanosecond are GB/s
  for (size_t i = 0; i <= slices; ++i)
    events_.counter("GB/s", us(static_cast<double>(i) * width),
                    "\"L2\": " + std::to_string(all[i] / perSlice) +
                        ", \"memory\": " + std::to_string(missed[i] / perSlice));
}

/// Bytes of each memory of the first core group that hold something that is still read.
void Trace::buffers() {
  std::map<std::pair<Place, bool>, std::vector<std::pair<Cycles, int64_t>>> changes;
  for (const BufferLife &life : buffersInUse(t_)) {
    changes[{life.place, life.cube}].push_back({life.start, life.bytes});
    changes[{life.place, life.cube}].push_back({life.end, -life.bytes});
  }
  for (auto &[where, steps] : changes) {
    std::stable_sort(steps.begin(), steps.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    int64_t bytes = 0;
    for (const auto &[time, change] : steps) {
      bytes += change;
      events_.counter(std::string(placeName(where.first)) + " of " +
                          (where.second ? "aic0" : "aiv0"),
                      us(time), "\"bytes\": " + std::to_string(bytes));
    }
  }
}

} // namespace

std::string writeChromeTrace(const Report &report) { return Trace(report).write(); }

} // namespace ptl::rt::sim
