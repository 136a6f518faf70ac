// The time on levels for people, for programs and as pictures.
#include "driver/ir/time_on_levels.h"
#include "frontend/base/printed.h"
#include "runtime/sim/time/lanes_page.h"
#include "runtime/trace/chrome_events.h"
#include "runtime/trace/lane_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ptl {

using Json = nlohmann::ordered_json;

/// Lanes of a picture: more of them nobody reads.
static constexpr size_t kMostLanes = 256;

static double us(double seconds) { return seconds * 1e6; }

static std::string bytesText(double bytes) {
  constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return printed(unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}

static const PlacedValue &valueOf(const TimedOnLevels &timed, const parts::MoveTime &move) {
  return timed.placed.values[move.value];
}

static Span spanOf(const TimedOnLevels &timed, ValueId value) {
  const Expr *expr = timed.placed.values[value].expr;
  return expr ? expr->span : timed.placed.decl->nameSpan;
}

static int64_t lineOf(Span span, const SourceManager &sources) {
  return sources.file(span.file).lineColumn(span.begin).line;
}

/// `chip`, `host, chip`: what a movement goes over.
static std::string levelsOfMove(const TimedOnLevels &timed, const PlacedValue &value) {
  std::string names;
  for (size_t level : value.over)
    names += (names.empty() ? "" : ", ") + timed.placed.levels[level].name;
  if (value.movement->takes == MovementTakes::Rows)
    return names;
  if (value.movement->takes != MovementTakes::Axes)
    return timed.placed.levels[value.level].name;
  for (const PlacedLevel &level : timed.placed.levels)
    names += (names.empty() ? "" : ", ") + level.name;
  return names;
}

/// `, 61 times`; nothing for once.
static std::string timesText(int64_t times) {
  return times == 1 ? "" : printed(", %lld times", static_cast<long long>(times));
}

static std::string callText(const TimedOnLevels &timed) {
  std::string text = timed.entry;
  for (size_t i = 0; i < timed.sizes.size(); ++i)
    text += (i ? ", " : "[") + timed.sizes[i].first + "=" + std::to_string(timed.sizes[i].second);
  text += timed.sizes.empty() ? "" : "]";
  text += " on " + timed.machine + ",";
  for (size_t i = 0; i < timed.counts.size(); ++i)
    text += " " + timed.placed.levels[i].name + "=" + std::to_string(timed.counts[i]);
  return text;
}

std::string levelsText(const TimedOnLevels &timed, const SourceManager &sources) {
  const parts::PartsTime &time = timed.time;
  std::string text = callText(timed) + (timed.notComputed.empty() ? ": " : ": at least ") +
                     printed("%.1f us", us(time.seconds));
  if (time.computing > 0)
    text += printed(", of which a part computes %.1f (%.0f %%)", us(time.computing),
                    100 * time.computing / time.seconds);
  text += "; " + bytesText(static_cast<double>(time.bytes)) + " of arrays on a part\n";
  for (const parts::MoveTime &move : time.moves) {
    const PlacedValue &value = valueOf(timed, move);
    text += printed("  line %-4lld %s over %s%s: %s sent by a part%s, %s, %.1f us alone",
                    static_cast<long long>(lineOf(spanOf(timed, move.value), sources)),
                    std::string(value.movement->name).c_str(), levelsOfMove(timed, value).c_str(),
                    timesText(move.times).c_str(),
                    bytesText(static_cast<double>(move.sentBytes)).c_str(),
                    move.times == 1 ? "" : " each time",
                    std::string(movement::algorithmName(move.algorithm)).c_str(), us(move.alone));
    if (!move.limit.empty())
      text += printed(", %.0f %% of it the ", 100 * move.limitShare) + move.limit;
    if (move.chunks > 1)
      text += printed("; in %lld chunks, which %s %.1f us", static_cast<long long>(move.chunks),
                      move.gain < 0 ? "cost" : "gain", us(std::abs(move.gain)));
    text += printed("; adds %.1f us to the whole\n", us(std::max(0.0, move.adds)));
  }
  for (const parts::StretchTime &stretch : time.stretches)
    if (stretch.seconds > 0)
      text += printed("  line %-4lld computing%s: %.1f us\n",
                      static_cast<long long>(lineOf(spanOf(timed, stretch.first), sources)),
                      timesText(stretch.times).c_str(), us(stretch.seconds));
  for (const parts::LoopTime &loop : time.loops) {
    text += printed("  line %-4lld %lld rounds of a loop",
                    static_cast<long long>(lineOf(loop.span, sources)),
                    static_cast<long long>(loop.rounds));
    if (loop.simulated < loop.rounds)
      text += printed(", of which %lld were simulated and the others extrapolated",
                      static_cast<long long>(loop.simulated));
    text += "\n";
  }
  if (time.save)
    text +=
        printed("  line %-4lld a checkpoint%s: %s written by a part, %.1f us on the disks; adds "
                "%.1f us to the whole\n",
                static_cast<long long>(lineOf(time.save->span, sources)),
                timesText(time.save->times).c_str(),
                bytesText(static_cast<double>(time.save->bytes)).c_str(), us(time.save->seconds),
                us(time.save->adds));
  if (!timed.assumed.empty()) {
    text += "  assumed:";
    for (const std::string &name : timed.assumed)
      text += " " + name;
    text += "; -D gives sizes\n";
  }
  if (!timed.notComputed.empty())
    text += "  not included, because there is no estimate: " + timed.notComputed + "\n";
  return text;
}

std::string levelsJson(const TimedOnLevels &timed, const SourceManager &sources) {
  const parts::PartsTime &time = timed.time;
  Json json = {{"entry", timed.entry}, {"machine", timed.machine}};
  for (const auto &[name, value] : timed.sizes)
    json["sizes"][name] = value;
  for (size_t i = 0; i < timed.counts.size(); ++i)
    json["shape"][timed.placed.levels[i].name] = timed.counts[i];
  json["us"] = us(time.seconds);
  json["computing_us"] = us(time.computing);
  json["bytes_per_part"] = time.bytes;
  json["messages"] = time.messages;
  json["movements"] = Json::array();
  for (const parts::MoveTime &move : time.moves) {
    const PlacedValue &value = valueOf(timed, move);
    json["movements"].push_back({{"name", value.movement->name},
                                 {"over", levelsOfMove(timed, value)},
                                 {"line", lineOf(spanOf(timed, move.value), sources)},
                                 {"times", move.times},
                                 {"algorithm", movement::algorithmName(move.algorithm)},
                                 {"bytes_sent", move.sentBytes},
                                 {"us", us(move.alone)},
                                 {"adds_us", us(std::max(0.0, move.adds))},
                                 {"begin", us(move.begin)},
                                 {"end", us(move.end)},
                                 {"limit", move.limit},
                                 {"limit_share", move.limitShare}});
    if (move.chunks > 1) {
      json["movements"].back()["chunks"] = move.chunks;
      json["movements"].back()["chunks_gain_us"] = us(move.gain);
    }
  }
  json["stretches"] = Json::array();
  for (const parts::StretchTime &stretch : time.stretches)
    json["stretches"].push_back({{"line", lineOf(spanOf(timed, stretch.first), sources)},
                                 {"times", stretch.times},
                                 {"us", us(stretch.seconds)},
                                 {"source", stretch.source}});
  for (const parts::LoopTime &loop : time.loops)
    json["loops"].push_back({{"line", lineOf(loop.span, sources)},
                             {"rounds", loop.rounds},
                             {"simulated", loop.simulated}});
  if (time.save)
    json["checkpoints"] = {{"line", lineOf(time.save->span, sources)},
                           {"times", time.save->times},
                           {"bytes_written", time.save->bytes},
                           {"us", us(time.save->seconds)},
                           {"adds_us", us(time.save->adds)}};
  if (!timed.assumed.empty())
    json["assumed"] = timed.assumed;
  if (!timed.notComputed.empty())
    json["not_computed"] = timed.notComputed;
  return json.dump(1) + "\n";
}

namespace {

struct LevelLane {
  std::string group, name;
  std::vector<rt::trace::LaneTask> tasks = {};
};

/// What happens when: of each part what it computes, what it moves over each level, and ports and
/// links.
class Lanes {
public:
  Lanes(const TimedOnLevels &timed, const SourceManager &sources) {
    const parts::PartsTime &time = timed.time;
    for (size_t i = 0; i < time.tasks.size(); ++i)
      addTask(timed, sources, time.origins[i], time.timeline.tasks[i]);
    for (const movement::Carried &carried : time.timeline.carried) {
      const movement::Carrier &carrier = time.timeline.carriers[carried.carrier];
      add("ports and links between the " + timed.fabric.levels[carrier.level].name + "s",
          carrier.name, "message", 0, carried.begin, carried.end);
    }
    if (time.save)
      addCheckpoints(timed, sources, *time.save);
  }

  const std::vector<LevelLane> &all() const { return lanes_; }

private:
  void addTask(const TimedOnLevels &timed, const SourceManager &sources,
               const parts::TaskOrigin &origin, const movement::FabricTimeline::Stretch &when) {
    using Kind = parts::TaskOrigin::Kind;
    std::string part = timed.grid->name(origin.part);
    if (origin.kind == Kind::Stretch) {
      Span span = spanOf(timed, timed.time.stretches[origin.number].first);
      add("computing", part, "computes", lineOf(span, sources), when.begin, when.end);
    } else if (origin.kind == Kind::Move) {
      ValueId move = timed.time.moves[origin.number].value;
      const PlacedValue &value = timed.placed.values[move];
      add("movements over " + levelsOfMove(timed, value), part, value.movement->name,
          lineOf(spanOf(timed, move), sources), when.begin, when.end);
    } else if (origin.kind == Kind::LeftOut) {
      Span span = timed.time.loops[origin.number].span;
      add("computing", part, "rounds that are not simulated", lineOf(span, sources), when.begin,
          when.end);
    } else if (origin.kind == Kind::Page) {
      Span span = spanOf(timed, static_cast<ValueId>(origin.number));
      add("pages from disks", part, "reads a page", lineOf(span, sources), when.begin, when.end);
    }
  }

  /// Each is written while the loop goes on, behind the one before it. They are no tasks, so what they delay stands where it would without
  /// them.
  void addCheckpoints(const TimedOnLevels &timed, const SourceManager &sources,
                      const parts::SaveTime &save) {
    constexpr int64_t kMost = 1000; // of a lane; a picture shows no more
    for (uint32_t part = 0; part < timed.grid->count() && part < kMostLanes; ++part) {
      double end = 0;
      for (int64_t number = 1; number <= std::min(save.times, kMost); ++number) {
        double begin = std::max(end, save.begin + save.between * static_cast<double>(number));
        end = begin + save.seconds;
        add("checkpoints on disks", timed.grid->name(part), "writes a checkpoint",
            lineOf(save.span, sources), begin, end);
      }
    }
  }

  void add(const std::string &group, const std::string &name, std::string_view what, int64_t line,
           double begin, double end) {
    auto found = numbers_.find({group, name});
    if (found == numbers_.end()) {
      if (perGroup_[group]++ >= kMostLanes)
        return;
      found = numbers_.emplace(std::pair(group, name), lanes_.size()).first;
      lanes_.push_back({group, name});
    }
    lanes_[found->second].tasks.push_back({what, line, us(begin), us(end)});
  }

  std::vector<LevelLane> lanes_;
  std::map<std::pair<std::string, std::string>, size_t> numbers_;
  std::map<std::string, size_t> perGroup_;
};

} // namespace

std::string levelsTrace(const TimedOnLevels &timed, const SourceManager &sources) {
  Lanes lanes(timed, sources);
  rt::trace::ChromeEvents events;
  std::map<std::string, int> groups;
  int thread = 0;
  for (const LevelLane &lane : lanes.all()) {
    auto [group, isNew] = groups.emplace(lane.group, static_cast<int>(groups.size()));
    if (isNew)
      events.nameProcess(group->second, lane.group, group->second);
    rt::trace::Track track{group->second, thread++};
    events.nameThread(track, lane.name);
    for (const rt::trace::LaneTask &task : lane.tasks)
      events.task(task.name, track, task.start, task.end - task.start,
                  task.line ? "\"line\": " + std::to_string(task.line) : "");
  }
  return events.take();
}

std::string levelsPage(const TimedOnLevels &timed, const SourceManager &sources) {
  Lanes lanes(timed, sources);
  rt::sim::LanesPage page;
  page.title = callText(timed);
  page.report = levelsText(timed, sources);
  page.end = us(timed.time.seconds);
  std::string path = sources.file(timed.placed.decl->nameSpan.file).path();
  std::map<std::pair<std::string_view, int64_t>, size_t> sites;
  std::map<std::string, std::vector<rt::sim::PageLane>> groups;
  for (const LevelLane &lane : lanes.all()) {
    rt::sim::PageLane &to = groups[lane.group].emplace_back();
    to.group = lane.group;
    to.name = lane.name;
    for (const rt::trace::LaneTask &task : lane.tasks) {
      auto [site, isNew] = sites.emplace(std::pair(task.name, task.line), page.sites.size());
      if (isNew)
        page.sites.push_back(
            {std::string(task.name),
             task.line ? path + ":" + std::to_string(task.line) + ":1" : std::string(), task.line});
      to.tasks.push_back({site->second, task.start, task.end});
    }
  }
  for (auto &[name, list] : groups)
    std::ranges::move(list, std::back_inserter(page.lanes));
  return rt::sim::writeLanesPage(page);
}

std::string levelsLanes(const TimedOnLevels &timed, const SourceManager &sources) {
  Lanes lanes(timed, sources);
  JsonWriter json;
  json.beginObject();
  json.field("entry", timed.entry).field("machine", timed.machine);
  json.key("us").raw(rt::trace::fixed(us(timed.time.seconds)));
  json.key("lanes").beginArray();
  for (const LevelLane &lane : lanes.all()) {
    rt::trace::LaneText text;
    text.name = lane.group + ": " + lane.name;
    text.tasks = lane.tasks;
    for (const rt::trace::LaneTask &task : lane.tasks)
      text.busy += task.end - task.start;
    text.utilisation = timed.time.seconds > 0 ? text.busy / us(timed.time.seconds) : 0;
    rt::trace::writeLane(json, text);
  }
  json.endArray().endObject();
  return json.take();
}

} // namespace ptl
