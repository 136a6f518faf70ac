#include "runtime/sim/time/write_tasks.h"
#include "runtime/sim/time/analysis_tasks.h"

#include "frontend/base/printed.h"
#include "runtime/trace/lane_text.h"

#include <algorithm>
#include <map>

namespace ptl::rt::sim {

using trace::fixed;

static std::string inUs(const Timeline &timeline, Cycles cycles) {
  return printed("%.2f us", timeline.microseconds(cycles));
}

static double idleShare(const TaskAnalysis &tasks) {
  return tasks.whole > 0 ? 1 - tasks.busy / tasks.whole : 0;
}

static std::string listOfTasks(const Timeline &t, const TaskAnalysis &tasks) {
  std::string text;
  for (uint32_t number = 0; number < t.launches.size(); ++number) {
    const LaunchSpan &launch = t.launches[number];
    text += printed("  #%-3u %12s %12s %4u  ", number, inUs(t, launch.begun).c_str(),
                    inUs(t, launch.end - launch.begun).c_str(), tasks.coresOf[number]);
    bool isCritical = std::find(tasks.path.begin(), tasks.path.end(), number) != tasks.path.end();
    text += describeTask(t, number) + "; after " + describeWait(t, number) +
            (isCritical ? "  [on the critical path]" : "") + "\n";
  }
  return text;
}

std::string taskPage(const Report &report) {
  const Timeline &t = report.timeline;
  const TaskAnalysis &tasks = report.analysis.tasks;
  // A single kernel has no gaps between tasks; its own report says all.
  if (tasks.kernels < 2)
    return "";
  std::string text =
      printed("\ntasks: %d kernels, at most %d at the same time; the %zu cores of their kinds have "
              "no task for %.1f %% of the time\n",
              tasks.kernels, tasks.atOnce, tasks.cores.size(), 100 * idleShare(tasks));
  text += "            begins        takes cores\n" + listOfTasks(t, tasks);
  text += "  critical path:";
  for (size_t i = 0; i < tasks.path.size(); ++i)
    text += (i ? " -> #" : " #") + std::to_string(tasks.path[i]);
  if (tasks.storage.unshared > 0)
    text += printed("\n  intermediate arrays: %lld bytes live at once, %lld if tasks ran in order, "
                    "%lld without reuse",
                    static_cast<long long>(tasks.storage.peak),
                    static_cast<long long>(tasks.storage.inOrder),
                    static_cast<long long>(tasks.storage.unshared));
  text += "\nwhy cores have no task: sum over the cores, how many\n";
  size_t shown = 0;
  for (const CoreGapGroup &group : tasks.groups) {
    if (++shown > 10 || group.total < 0.002 * tasks.whole)
      break;
    text += printed("  %12s %5u  ", inUs(t, group.total).c_str(), group.cores) +
            describeGap(t, group) + "\n";
  }
  return text;
}

static void writeEdges(JsonWriter &json, const LaunchSpan &launch) {
  json.key("waits_for").beginArray();
  for (const TaskEdge &edge : launch.waitsFor)
    json.beginObject()
        .field("task", int64_t(edge.before))
        .field("hazard", hazardNames[static_cast<size_t>(edge.hazard)])
        .field("array", edge.array)
        .endObject();
  json.endArray();
}

static void writeLaunches(JsonWriter &json, const Timeline &t, const TaskAnalysis &tasks) {
  auto time = [&](const char *name, Cycles cycles) {
    json.key(name).raw(fixed(t.microseconds(cycles)));
  };
  json.key("launches").beginArray();
  for (uint32_t number = 0; number < t.launches.size(); ++number) {
    const LaunchSpan &launch = t.launches[number];
    json.beginObject().field("task", int64_t(number)).field("kernel", launch.kernel);
    if (!launch.name.empty())
      json.field("name", launch.name);
    json.field("writes", launch.writes).field("blocks", launch.blocks);
    if (!launch.location.file.empty())
      json.field("file", launch.location.file).field("line", int64_t(launch.location.line));
    json.field("cores", int64_t(tasks.coresOf[number]));
    time("submitted", launch.submitted);
    time("ready", launch.ready);
    time("start", launch.start);
    time("begun", launch.begun);
    time("end", launch.end);
    json.field("cause", taskCauseNames[static_cast<size_t>(launch.cause)]);
    writeEdges(json, launch);
    json.endObject();
  }
  json.endArray();
}

void writeTasks(JsonWriter &json, const Report &report) {
  const Timeline &t = report.timeline;
  const TaskAnalysis &tasks = report.analysis.tasks;
  writeLaunches(json, t, tasks);
  json.key("tasks").beginObject().field("kernels", int64_t(tasks.kernels));
  json.field("at_once", int64_t(tasks.atOnce));
  json.field("cores", static_cast<int64_t>(tasks.cores.size()));
  json.key("idle").raw(fixed(idleShare(tasks), 4));
  json.key("storage").beginObject().field("bytes", tasks.storage.peak);
  json.field("unshared_bytes", tasks.storage.unshared);
  json.field("least_bytes", tasks.storage.inOrder).endObject();
  json.key("critical_path").beginArray();
  for (uint32_t task : tasks.path)
    json.raw(std::to_string(task));
  json.endArray();
  json.key("gaps").beginArray();
  for (size_t i = 0; i < std::min<size_t>(tasks.groups.size(), 40); ++i) {
    const CoreGapGroup &group = tasks.groups[i];
    json.beginObject().field("cause", taskCauseNames[static_cast<size_t>(group.cause)]);
    json.field("text", describeGap(t, group));
    if (group.next != kNoTask)
      json.field("task", int64_t(group.next));
    if (group.blocker != kNoTask)
      json.field("waits_for", int64_t(group.blocker));
    json.field("cores", int64_t(group.cores));
    json.key("us").raw(fixed(t.microseconds(group.total))).endObject();
  }
  json.endArray().endObject();
}

static std::string nameOfTask(const Timeline &t, uint32_t task) {
  const LaunchSpan &launch = t.launches[task];
  return "#" + std::to_string(task) + " " + (launch.name.empty() ? launch.kernel : launch.name);
}

void writeCoreLanes(JsonWriter &json, const Report &report) {
  const Timeline &t = report.timeline;
  const TaskAnalysis &tasks = report.analysis.tasks;
  auto us = [&](Cycles cycles) { return t.microseconds(cycles); };
  std::vector<std::string> names;
  for (uint32_t task = 0; task < t.launches.size(); ++task)
    names.push_back(nameOfTask(t, task));
  json.key("cores").beginArray();
  auto gap = tasks.gaps.begin();
  for (const CoreUse &use : tasks.cores) {
    trace::LaneText text;
    text.name = t.coreName(use.core);
    text.busy = us(use.busy);
    text.utilisation = t.end > 0 ? use.busy / t.end : 0;
    for (uint32_t number : use.blocks) {
      const BlockSpan &block = t.blocks[number];
      text.tasks.push_back({names[block.launch], t.launches[block.launch].location.line,
                            us(block.begun), us(block.end), 0});
    }
    std::map<TaskCause, Cycles> idle;
    for (; gap != tasks.gaps.end() && gap->core == use.core; ++gap) {
      idle[gap->cause] += gap->end - gap->start;
      trace::LaneGap &out = text.gaps.emplace_back();
      out.start = us(gap->start);
      out.end = us(gap->end);
      out.cause = taskCauseNames[static_cast<size_t>(gap->cause)];
      if (gap->next != kNoTask)
        out.before = t.launches[gap->next].location.line;
      if (gap->blocker == kNoTask)
        continue;
      const LaunchSpan &blocker = t.launches[gap->blocker];
      out.waitsFor = names[gap->blocker];
      out.line = blocker.location.line;
      if (blocker.lastBlock != kNoTask)
        out.lane = t.coreName(t.blocks[blocker.lastBlock].cores.front());
    }
    for (auto [cause, cycles] : idle)
      text.idle.emplace_back(taskCauseNames[static_cast<size_t>(cause)], us(cycles));
    trace::writeLane(json, text);
  }
  json.endArray();
}

} // namespace ptl::rt::sim
