#include "runtime/trace/run_trace.h"

#include "runtime/graph/task_graph.h"
#include "runtime/program.h"
#include "runtime/trace/chrome_events.h"
#include "runtime/trace/lane_text.h"

#include <algorithm>
#include <map>

namespace ptl::rt::trace {
namespace {

/// Why a thread had nothing to do before a task.
enum class Cause : uint8_t { Dependence, Program, Scheduler, End };
constexpr std::string_view causeNames[] = {"dependence", "program", "scheduler", "end"};

constexpr int64_t kShortest = 200; ///< nanoseconds of a gap that is worth a word

/// Finds the dependences between tasks, and when each task ran.
class Analysis {
public:
  explicit Analysis(const Recorder &recorder);

  struct Place {
    size_t lane = 0, span = 0;
  };
  struct Run {
    Place first, last; ///< by time
    bool hasRun = false;
    int64_t start = INT64_MAX, stop = 0;
    std::vector<uint32_t> waitsFor; ///< numbers from 0
  };
  struct Gap {
    int64_t start = 0, stop = 0;
    Cause cause = Cause::End;
    uint32_t before = 0, blocker = 0; ///< numbers from 0
  };

  const Recorder &recorder;
  std::vector<std::vector<Recorder::Span>> lanes; ///< by time
  std::vector<Run> runs;                          ///< by task
  std::vector<std::vector<Gap>> gaps;             ///< by lane
  int64_t end = 0;

  const Recorder::Task &task(uint32_t number) const { return recorder.tasks()[number]; }
  /// The chain of tasks and waits that determined when the run ended, as nanoseconds by name.
  std::map<std::string, int64_t> criticalPath() const;

private:
  void findDependences();
  void findRuns();
  void findGaps(size_t lane);
  /// The last of those that the task waited for to end.
  const uint32_t *blockerOf(uint32_t number) const;
};

Analysis::Analysis(const Recorder &recorder) : recorder(recorder), lanes(recorder.lanes()) {
  for (auto &lane : lanes)
    std::sort(lane.begin(), lane.end(),
              [](const auto &a, const auto &b) { return a.start < b.start; });
  runs.resize(recorder.tasks().size());
  findDependences();
  findRuns();
  gaps.resize(lanes.size());
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    findGaps(lane);
}

/// The dependences of program order, from what the tasks have said that they touch.
void Analysis::findDependences() {
  GraphBuilder builder;
  StorageTable storages;
  AccessWords words;
  size_t released = 0;
  for (uint32_t number = 0; number < recorder.tasks().size(); ++number) {
    const Recorder::Task &task = recorder.tasks()[number];
    for (; released < task.releases; ++released)
      storages.remove(recorder.released()[released]);
    auto accesses = words.read(recorder.words().data() + task.firstWord, task.accesses, storages,
                               [&](int64_t, uint32_t rank) { return builder.addStorage(rank); });
    TaskId previous = number - 1;
    std::span<const TaskId> after(&previous, task.isLoop && number > 0 ? 1 : 0);
    TaskId id = builder.add({}, accesses, after);
    auto found = builder.predecessors(id);
    runs[number].waitsFor.assign(found.begin(), found.end());
  }
}

void Analysis::findRuns() {
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    for (size_t i = 0; i < lanes[lane].size(); ++i) {
      const Recorder::Span &span = lanes[lane][i];
      Run &run = runs[span.task - 1];
      if (!run.hasRun || span.start < run.start) {
        run.start = span.start;
        run.first = {lane, i};
      }
      if (!run.hasRun || span.stop > run.stop) {
        run.stop = span.stop;
        run.last = {lane, i};
      }
      run.hasRun = true;
      end = std::max(end, span.stop);
    }
}

const uint32_t *Analysis::blockerOf(uint32_t number) const {
  const uint32_t *last = nullptr;
  for (const uint32_t &other : runs[number].waitsFor)
    if (runs[other].hasRun && (!last || runs[other].stop > runs[*last].stop))
      last = &other;
  return last;
}

void Analysis::findGaps(size_t lane) {
  int64_t free = 0;
  for (const Recorder::Span &span : lanes[lane]) {
    auto number = static_cast<uint32_t>(span.task - 1);
    if (span.start - free >= kShortest) {
      Gap gap{free, span.start, Cause::Scheduler, number, 0};
      const uint32_t *blocker = blockerOf(number);
      int64_t ready = blocker ? runs[*blocker].stop : 0;
      // What came last is the cause: the task that this one depends on, its submission, or else the scheduler.
      if (blocker && ready > free && ready >= task(number).submitted) {
        gap.cause = Cause::Dependence;
        gap.blocker = *blocker;
      } else if (task(number).submitted > free) {
        gap.cause = Cause::Program;
      }
      gaps[lane].push_back(gap);
    }
    free = std::max(free, span.stop);
  }
  if (end - free >= kShortest && !lanes[lane].empty())
    gaps[lane].push_back({free, end, Cause::End, 0, 0});
}

std::map<std::string, int64_t> Analysis::criticalPath() const {
  std::map<std::string, int64_t> parts;
  const Run *last = nullptr;
  for (const Run &run : runs)
    if (run.hasRun && (!last || run.stop > last->stop))
      last = &run;
  if (!last)
    return parts;
  Place at = last->last;
  // The path is walked backwards from the end. At each task it goes on with what began it last: the
  // task before it on its thread, the one it waited for, or its submission.
  for (int64_t time = end; time > 0;) {
    const Recorder::Span &span = lanes[at.lane][at.span];
    auto number = static_cast<uint32_t>(span.task - 1);
    parts[task(number).place.name] += std::max<int64_t>(0, std::min(span.stop, time) - span.start);
    time = std::min(time, span.start);
    const uint32_t *blocker = blockerOf(number);
    int64_t before = at.span > 0 ? lanes[at.lane][at.span - 1].stop : 0;
    int64_t ready = blocker ? runs[*blocker].stop : 0;
    int64_t from = std::max({before, ready, task(number).submitted});
    bool isSubmission = task(number).submitted > std::max(before, ready);
    parts["scheduler"] += std::max<int64_t>(0, time - from);
    // Then the scheduler could not have been faster: the program itself came late.
    if (isSubmission)
      parts["program"] += std::max<int64_t>(0, std::min(time, from) - std::max(before, ready));
    time = std::min(time, std::max(before, ready));
    if (ready > before && blocker)
      at = runs[*blocker].last;
    else if (at.span > 0)
      --at.span;
    else
      break;
  }
  std::erase_if(parts, [](const auto &part) { return part.second == 0; });
  return parts;
}

double us(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

std::string sourceOf(const PtlPlace &place) {
  return place.file ? std::string(place.file) + ":" + std::to_string(place.line) : std::string();
}

std::string laneName(size_t lane) { return "thread" + std::to_string(lane); }

LaneText laneText(const Analysis &analysis, size_t lane) {
  LaneText text;
  text.name = laneName(lane);
  int64_t busy = 0;
  for (const Recorder::Span &span : analysis.lanes[lane]) {
    const PtlPlace &place = analysis.task(static_cast<uint32_t>(span.task - 1)).place;
    text.tasks.push_back({place.name, place.line, us(span.start), us(span.stop), 0});
    busy += span.stop - span.start;
  }
  text.busy = us(busy);
  text.utilisation =
      analysis.end > 0 ? static_cast<double>(busy) / static_cast<double>(analysis.end) : 0;
  std::map<Cause, int64_t> idle;
  for (const Analysis::Gap &gap : analysis.gaps[lane]) {
    idle[gap.cause] += gap.stop - gap.start;
    LaneGap &out = text.gaps.emplace_back();
    out.start = us(gap.start);
    out.end = us(gap.stop);
    out.cause = causeNames[static_cast<size_t>(gap.cause)];
    if (gap.cause != Cause::End)
      out.before = analysis.task(gap.before).place.line;
    if (gap.cause == Cause::Dependence) {
      out.waitsFor = analysis.task(gap.blocker).place.name;
      out.lane = laneName(analysis.runs[gap.blocker].last.lane);
      out.line = analysis.task(gap.blocker).place.line;
    }
  }
  for (auto [cause, time] : idle)
    text.idle.emplace_back(causeNames[static_cast<size_t>(cause)], us(time));
  return text;
}

} // namespace

std::string writeRunLanes(const RecordedRun &run) {
  Analysis analysis(*run.recorder);
  JsonWriter json;
  json.beginObject().field("format", "ptl-timeline").field("version", int64_t(1));
  json.field("entry", run.entry).field("machine", run.machine);
  json.fields("dims", run.dims);
  json.key("us").raw(fixed(us(analysis.end)));
  int64_t awaited = 0;
  for (const Recorder::Wait &wait : run.recorder->waits())
    awaited += wait.stop - wait.start;
  json.field("tasks", static_cast<int64_t>(run.recorder->tasks().size()));
  size_t edges = 0;
  for (const Analysis::Run &task : analysis.runs)
    edges += task.waitsFor.size();
  json.field("dependences", static_cast<int64_t>(edges));
  json.key("program_waits_us").raw(fixed(us(awaited)));
  if (const auto &storage = run.recorder->storage()) {
    json.key("storage").beginObject().field("bytes", storage->bytes);
    json.field("unshared_bytes", storage->unshared);
    json.field("least_bytes", storage->leastLive).endObject();
  }
  json.key("critical_path").beginObject();
  for (const auto &[part, time] : analysis.criticalPath())
    json.key(part).raw(fixed(us(time)));
  json.endObject();
  json.key("lanes").beginArray();
  for (size_t lane = 0; lane < analysis.lanes.size(); ++lane)
    writeLane(json, laneText(analysis, lane));
  json.endArray();
  json.endObject();
  return json.take();
}

std::string writeRunChrome(const RecordedRun &run) {
  Analysis analysis(*run.recorder);
  ChromeEvents events;
  auto track = [](size_t lane) { return Track{1, static_cast<int>(lane)}; };
  events.nameProcess(1, run.entry + " on " + run.machine, 1);
  for (size_t lane = 0; lane < analysis.lanes.size(); ++lane)
    events.nameThread(track(lane), laneName(lane));
  for (size_t lane = 0; lane < analysis.lanes.size(); ++lane)
    for (const Recorder::Span &span : analysis.lanes[lane]) {
      auto number = static_cast<uint32_t>(span.task - 1);
      const Recorder::Task &task = analysis.task(number);
      events.task(task.place.name, track(lane), us(span.start), us(span.stop - span.start),
                  "\"source\": " + ChromeEvents::quoted(sourceOf(task.place)) +
                      ", \"task\": " + std::to_string(span.task) + ", \"points\": \"" +
                      std::to_string(span.begin) + ".." + std::to_string(span.end) + " of " +
                      std::to_string(task.points) + "\"");
    }
  int waits = static_cast<int>(analysis.lanes.size());
  if (!run.recorder->waits().empty())
    events.nameThread({1, waits}, "program");
  for (const Recorder::Wait &wait : run.recorder->waits())
    events.task("waits for data", {1, waits}, us(wait.start), us(wait.stop - wait.start), "");
  for (const Analysis::Run &to : analysis.runs)
    for (uint32_t number : to.waitsFor) {
      const Analysis::Run &from = analysis.runs[number];
      // Viewers attach an arrow to the task that runs where it begins, so it begins just before that task ends.
      if (from.hasRun && to.hasRun)
        events.arrow(track(from.last.lane), std::max(us(from.start), us(from.stop) - 0.001),
                     track(to.first.lane), us(to.start));
    }
  return events.take();
}

} // namespace ptl::rt::trace
