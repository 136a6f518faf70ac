// The trace format of Chrome, which Perfetto reads: a process for each core, a thread for each
// pipe.
#include "frontend/base/json.h"
#include "runtime/sim/time/report.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace ptl::rt::sim {
namespace {

class Trace {
public:
  explicit Trace(const Report &report) : t_(report.timeline), a_(report.analysis) {}

  std::string write() {
    text_ = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    names();
    for (const LaunchSpan &launch : t_.launches)
      event("X", launch.kernel, 0, 0, launch.start, launch.end - launch.start,
            "\"blocks\": " + std::to_string(launch.blocks));
    for (uint32_t i = 0; i < t_.records.size(); ++i)
      if (t_.sites[t_.records[i].site].isWork())
        task(i);
    arrows();
    bandwidth();
    buffers();
    text_ += "\n]}\n";
    return std::move(text_);
  }

private:
  static std::string quoted(std::string_view text) {
    std::string result;
    appendJsonString(result, text);
    return result;
  }
  std::string us(Cycles cycles) const {
    char text[48];
    std::snprintf(text, sizeof(text), "%.4f", t_.microseconds(cycles));
    return text;
  }
  int processOf(const Lane &lane) const { return (lane.cube ? 1000 : 2000) + lane.number; }

  void open(const char *phase, std::string_view name, int process, int thread) {
    text_ += first_ ? "" : ",\n";
    first_ = false;
    text_ += "{\"ph\": \"" + std::string(phase) + "\", \"name\": " + quoted(name) +
             ", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(thread);
  }
  void event(const char *phase, std::string_view name, int process, int thread, Cycles start,
             Cycles length, const std::string &arguments) {
    open(phase, name, process, thread);
    text_ +=
        ", \"ts\": " + us(start) + ", \"dur\": " + us(length) + ", \"args\": {" + arguments + "}}";
  }
  void names();
  void task(uint32_t index);
  void arrows();
  void bandwidth();
  void buffers();
  void counter(const std::string &name, Cycles time, const std::string &values) {
    open("C", name, 0, 0);
    text_ += ", \"ts\": " + us(time) + ", \"args\": {" + values + "}}";
  }

  const Timeline &t_;
  const Analysis &a_;
  std::string text_;
  bool first_ = true;
};

void Trace::names() {
  auto meta = [&](const char *what, int process, int thread, const std::string &value) {
    open("M", what, process, thread);
    text_ += ", \"args\": {" + value + "}}";
  };
  meta("process_name", 0, 0, "\"name\": \"kernels\"");
  std::map<int, bool> named;
  for (const LaneUse &use : a_.lanes) {
    const Lane &lane = t_.lanes[use.lane];
    int process = processOf(lane);
    if (!named[process]) {
      meta("process_name", process, 0, "\"name\": " + quoted(lane.core()));
      meta("process_sort_index", process, 0, "\"sort_index\": " + std::to_string(process));
      named[process] = true;
    }
    meta("thread_name", process, static_cast<int>(lane.pipe),
         "\"name\": " + quoted(pipeName(lane.pipe)));
  }
}

void Trace::task(uint32_t index) {
  const Record &record = t_.records[index];
  const Site &site = t_.sites[record.site];
  const Lane &lane = t_.lanes[record.lane];
  std::string arguments = "\"source\": " + quoted(toString(site.location));
  if (!site.location.name.empty())
    arguments += ", \"value\": " + quoted(site.location.name);
  arguments += ", \"kernel\": " + quoted(site.kernel);
  if (record.stall > 0.5)
    arguments += ", \"waits for shared memory\": " + us(record.stall);
  event("X", site.name, processOf(lane), static_cast<int>(lane.pipe), record.start,
        record.end - record.start, arguments);
}

/// From what ended to what waited for it.
void Trace::arrows() {
  int id = 0;
  for (const Gap &gap : a_.gaps) {
    if (gap.blocker == noRecord)
      continue;
    const Record &from = t_.records[gap.blocker], &to = t_.records[gap.next];
    ++id;
    for (bool start : {true, false}) {
      const Record &end = start ? from : to;
      const Lane &lane = t_.lanes[end.lane];
      open(start ? "s" : "f", "waits", processOf(lane), static_cast<int>(lane.pipe));
      text_ += ", \"cat\": \"dependence\", \"id\": " + std::to_string(id) +
               ", \"ts\": " + us(start ? std::max(end.start, end.end - 1) : end.start) +
               (start ? "}" : ", \"bp\": \"e\"}");
    }
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
    counter("GB/s", static_cast<double>(i) * width,
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
      counter(std::string(placeName(where.first)) + " of " + (where.second ? "aic0" : "aiv0"), time,
              "\"bytes\": " + std::to_string(bytes));
    }
  }
}

} // namespace

std::string writeChromeTrace(const Report &report) { return Trace(report).write(); }

} // namespace ptl::rt::sim
