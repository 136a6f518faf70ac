// Timelines for programs: one task a line, so that the text can be searched.
#include "frontend/base/json.h"
#include "runtime/sim/time/analysis_tasks.h"
#include "runtime/sim/time/hints.h"
#include "runtime/sim/time/write_tasks.h"
#include "runtime/trace/lane_text.h"

#include <algorithm>

namespace ptl::rt::sim {
namespace {

using trace::fixed;

class Writer {
public:
  explicit Writer(const Report &report) : r_(report), t_(report.timeline), a_(report.analysis) {}

  void summary();
  void lanes();
  std::string take() { return json_.take(); }
  JsonWriter &json() { return json_; }

private:
  std::string us(Cycles cycles) const { return fixed(t_.microseconds(cycles)); }
  JsonWriter &time(const char *name, Cycles cycles) { return json_.key(name).raw(us(cycles)); }
  void site(const Site &site);
  void waits();
  void path();
  void gains();
  trace::LaneText lane(const LaneUse &use);

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
    if (group.blocker != kNoRecord) {
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
    json_.key("gain").raw(fixed(t_.end > 0 ? (t_.end - gain.end) / t_.end : 0, 4)).endObject();
  }
  json_.endArray();
  json_.key("hints").beginArray();
  for (const Hint &hint : hintsOf(r_)) {
    json_.beginObject().field("text", hint.text);
    if (!hint.location.file.empty())
      json_.field("file", hint.location.file).field("line", int64_t(hint.location.line));
    json_.key("gain").raw(fixed(hint.gain, 4)).endObject();
  }
  json_.endArray();
}

void Writer::summary() {
  json_.field("entry", r_.entry).field("machine", r_.machine);
  json_.fields("dims", r_.dims);
  if (!r_.elements.empty())
    json_.fields("elements", r_.elements);
  if (!r_.decisions.empty())
    json_.fields("decisions", r_.decisions);
  time("us", t_.end);
  json_.key("cycles").raw(fixed(t_.end, 0)).key("clock_mhz").raw(fixed(t_.clockMhz, 0));
  json_.field("bound", describeBound(a_));
  json_.field("instructions", static_cast<int64_t>(t_.instructions));
  json_.field("operations", static_cast<int64_t>(t_.operations));
  json_.field("bytes", t_.bytes).field("missed_bytes", t_.missed);
  if (t_.signal > 0)
    json_.field("signals", static_cast<int64_t>(a_.signals))
        .key("signal_util")
        .raw(fixed(a_.signalUse, 4));
  json_.field("groups", int64_t(a_.groupsAtWork)).field("groups_of_chip", r_.groupsOfChip);
  time("uneven_us", a_.uneven);
  writeTasks(json_, r_);
  json_.key("pipes").beginArray();
  for (const PipeUse &use : a_.pipes)
    json_.beginObject()
        .field("core", use.cube ? "aic" : "aiv")
        .field("pipe", pipeName(use.pipe))
        .key("util")
        .raw(fixed(use.share, 4))
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

trace::LaneText Writer::lane(const LaneUse &use) {
  auto us = [&](Cycles cycles) { return t_.microseconds(cycles); };
  trace::LaneText text;
  text.name = t_.lanes[use.lane].name();
  text.utilisation = t_.end > 0 ? use.busy / t_.end : 0;
  text.busy = us(use.busy);
  for (const auto &[cause, cycles] : use.idle)
    text.idle.emplace_back(causeNames[static_cast<size_t>(cause)], us(cycles));
  for (uint32_t index : byLane_[use.lane]) {
    const Record &record = t_.records[index];
    const Site &at = t_.sites[record.site];
    text.tasks.push_back({at.name, at.location.line, us(record.start), us(record.end),
                          record.stall > 0.5 ? us(record.stall) : 0});
  }
  // Gaps are in the order of lanes.
  auto gap = std::lower_bound(a_.gaps.begin(), a_.gaps.end(), use.lane,
                              [](const Gap &gap, uint16_t of) { return gap.lane < of; });
  for (; gap != a_.gaps.end() && gap->lane == use.lane; ++gap) {
    trace::LaneGap &out = text.gaps.emplace_back();
    out.start = us(gap->start);
    out.end = us(gap->end);
    out.cause = causeNames[static_cast<size_t>(gap->cause)];
    out.before = t_.sites[t_.records[gap->next].site].location.line;
    if (gap->blocker == kNoRecord)
      continue;
    const Record &blocker = t_.records[gap->blocker];
    out.waitsFor = t_.sites[blocker.site].name;
    out.lane = t_.lanes[blocker.lane].name();
    out.line = t_.sites[blocker.site].location.line;
  }
  return text;
}

void Writer::lanes() {
  byLane_.resize(t_.lanes.size());
  for (uint32_t i = 0; i < t_.records.size(); ++i)
    if (t_.sites[t_.records[i].site].isWork())
      byLane_[t_.records[i].lane].push_back(i);
  json_.key("lanes").beginArray();
  for (const LaneUse &use : a_.lanes)
    trace::writeLane(json_, lane(use));
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
  writeCoreLanes(writer.json(), report);
  writer.json().endObject();
  return writer.take();
}

} // namespace ptl::rt::sim
