// Timelines for programs: one task a line, so that the text can be searched.
#include "frontend/base/json.h"
#include "runtime/sim/time/report.h"

#include <algorithm>
#include <cstdio>

namespace ptl::rt::sim {
namespace {

std::string number(double value, int digits = 3) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

class Writer {
public:
  explicit Writer(const Report &report) : r_(report), t_(report.timeline), a_(report.analysis) {}

  void summary();
  void lanes();
  std::string take() { return json_.take(); }
  JsonWriter &json() { return json_; }

private:
  std::string us(Cycles cycles) const { return number(t_.microseconds(cycles)); }
  JsonWriter &time(const char *name, Cycles cycles) { return json_.key(name).raw(us(cycles)); }
  void site(const Site &site);
  void waits();
  void path();
  void gains();
  void tasks(uint16_t lane);
  void gaps(uint16_t lane);

  const Report &r_;
  const Timeline &t_;
  const Analysis &a_;
  JsonWriter json_;
  std::vector<std::vector<uint32_t>> byLane_;
};

void Writer::site(const Site &site) {
  json_.field("instruction", site.name);
  if (!site.location.file.empty())
    json_.field("file", site.location.file).field("line", int64_t(site.location.line));
  if (!site.location.name.empty())
    json_.field("value", site.location.name);
}

void Writer::waits() {
  json_.key("waits").beginArray();
  for (size_t i = 0; i < std::min<size_t>(a_.groups.size(), 40); ++i) {
    const GapGroup &group = a_.groups[i];
    json_.beginObject();
    json_.field("core", group.cube ? "aic" : "aiv").field("pipe", pipeName(group.pipe));
    json_.field("cause", causeNames[static_cast<size_t>(group.cause)]);
    json_.field("text", describeGap(t_, group));
    site(t_.sites[group.next]);
    if (group.blocker != noRecord) {
      json_.key("waits_for").beginObject();
      site(t_.sites[group.blocker]);
      json_.field("pipe", pipeName(t_.sites[group.blocker].pipe)).endObject();
    }
    if (!t_.sites[group.wait].why.empty())
      json_.field("why", t_.sites[group.wait].why);
    json_.field("count", static_cast<int64_t>(group.count));
    time("us", group.total);
    json_.key("critical").boolean(group.critical > 0).endObject();
  }
  json_.endArray();
}

void Writer::path() {
  json_.key("critical_path").beginObject();
  for (const auto &[part, cycles] : a_.pathByPart)
    time(part.c_str(), cycles);
  json_.endObject();
}

void Writer::gains() {
  json_.key("gains").beginArray();
  for (const Gain &gain : a_.gains) {
    json_.beginObject().field("if", gain.what);
    time("us", gain.end);
    json_.key("gain").raw(number(t_.end > 0 ? (t_.end - gain.end) / t_.end : 0, 4)).endObject();
  }
  json_.endArray();
  json_.key("hints").beginArray();
  for (const Hint &hint : hintsOf(r_)) {
    json_.beginObject().field("text", hint.text);
    if (!hint.location.file.empty())
      json_.field("file", hint.location.file).field("line", int64_t(hint.location.line));
    json_.key("gain").raw(number(hint.gain, 4)).endObject();
  }
  json_.endArray();
}

void Writer::summary() {
  json_.field("entry", r_.entry).field("machine", r_.machine);
  json_.key("dims").beginObject();
  for (const auto &[name, value] : r_.dims)
    json_.field(name, value);
  json_.endObject();
  time("us", t_.end);
  json_.key("cycles").raw(number(t_.end, 0)).key("clock_mhz").raw(number(t_.clockMhz, 0));
  json_.field("bound", describeBound(a_));
  json_.field("instructions", static_cast<int64_t>(t_.instructions));
  json_.field("operations", static_cast<int64_t>(t_.operations));
  json_.field("bytes", t_.bytes).field("missed_bytes", t_.missed);
  json_.field("groups", int64_t(a_.groupsAtWork)).field("groups_of_chip", r_.groupsOfChip);
  time("uneven_us", a_.uneven);
  json_.key("launches").beginArray();
  for (const LaunchSpan &launch : t_.launches) {
    json_.beginObject().field("kernel", launch.kernel).field("blocks", launch.blocks);
    time("start", launch.start);
    time("begun", launch.begun);
    time("end", launch.end).endObject();
  }
  json_.endArray();
  json_.key("pipes").beginArray();
  for (const PipeUse &use : a_.pipes)
    json_.beginObject()
        .field("core", use.cube ? "aic" : "aiv")
        .field("pipe", pipeName(use.pipe))
        .key("util")
        .raw(number(use.share, 4))
        .field("cores", int64_t(use.lanes))
        .endObject();
  json_.endArray();
  path();
  waits();
  gains();
  json_.key("lines").beginArray();
  for (const LineCost &line : lineCosts(r_)) {
    json_.beginObject().field("file", line.location.file);
    json_.field("line", int64_t(line.location.line)).field("instructions", line.names);
    json_.field("count", static_cast<int64_t>(line.count));
    time("busy_us", line.busy);
    time("path_us", line.path).endObject();
  }
  json_.endArray();
}

void Writer::tasks(uint16_t lane) {
  json_.key("tasks").beginArray();
  for (uint32_t index : byLane_[lane]) {
    const Record &record = t_.records[index];
    const Site &at = t_.sites[record.site];
    std::string task = "{\"name\": ";
    appendJsonString(task, at.name);
    task += ", \"line\": " + std::to_string(at.location.line) + ", \"start\": " + us(record.start) +
            ", \"end\": " + us(record.end);
    if (record.stall > 0.5)
      task += ", \"stall\": " + us(record.stall);
    json_.raw(task + "}");
  }
  json_.endArray();
}

void Writer::gaps(uint16_t lane) {
  json_.key("gaps").beginArray();
  auto first = std::lower_bound(a_.gaps.begin(), a_.gaps.end(), lane,
                                [](const Gap &gap, uint16_t of) { return gap.lane < of; });
  for (; first != a_.gaps.end() && first->lane == lane; ++first) {
    std::string gap =
        "{\"start\": " + us(first->start) + ", \"end\": " + us(first->end) + ", \"cause\": ";
    appendJsonString(gap, causeNames[static_cast<size_t>(first->cause)]);
    gap += ", \"before\": " + std::to_string(t_.sites[t_.records[first->next].site].location.line);
    if (first->blocker != noRecord) {
      const Record &blocker = t_.records[first->blocker];
      gap += ", \"waits_for\": ";
      appendJsonString(gap, t_.sites[blocker.site].name);
      gap += ", \"lane\": ";
      appendJsonString(gap, t_.lanes[blocker.lane].name());
      gap += ", \"line\": " + std::to_string(t_.sites[blocker.site].location.line);
    }
    json_.raw(gap + "}");
  }
  json_.endArray();
}

void Writer::lanes() {
  byLane_.resize(t_.lanes.size());
  for (uint32_t i = 0; i < t_.records.size(); ++i)
    if (t_.sites[t_.records[i].site].isWork())
      byLane_[t_.records[i].lane].push_back(i);
  json_.key("lanes").beginArray();
  for (const LaneUse &use : a_.lanes) {
    json_.beginObject().field("lane", t_.lanes[use.lane].name());
    json_.key("util").raw(number(t_.end > 0 ? use.busy / t_.end : 0, 4));
    time("busy_us", use.busy);
    json_.key("idle_us").beginObject();
    for (const auto &[cause, cycles] : use.idle)
      time(std::string(causeNames[static_cast<size_t>(cause)]).c_str(), cycles);
    json_.endObject();
    tasks(use.lane);
    gaps(use.lane);
    json_.endObject();
  }
  json_.endArray();
}

} // namespace

std::string writeSummary(const Report &report) {
  Writer writer(report);
  writer.json().beginObject();
  writer.summary();
  writer.json().endObject();
  return writer.take();
}

std::string writeLanes(const Report &report) {
  Writer writer(report);
  writer.json().beginObject().field("format", "ptl-timeline").field("version", int64_t(1));
  writer.summary();
  writer.lanes();
  writer.json().endObject();
  return writer.take();
}

} // namespace ptl::rt::sim
