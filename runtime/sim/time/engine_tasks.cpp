// Tasks in program order.
#include "runtime/sim/time/engine_tasks.h"
#include "runtime/sim/time/engine_block.h"
#include "runtime/sim/time/engine_event.h"

#include <algorithm>

namespace ptl::rt::sim {

/// All positions of an axis whose length is not known.
static constexpr Axis everything{0, INT64_MAX / 4, 1};

uint32_t addArray(Engine &e, int64_t bytes, size_t rank, std::string name, bool isIntermediate) {
  uint32_t number = e.second.add(bytes, e.options.warm);
  e.timeline.arrays.push_back({std::move(name), bytes, isIntermediate});
  StorageId storage = e.history.addStorage(rank);
  (void)storage; // It is the same number, since both count from 0.
  return number;
}

/// The accesses in the form of the task graph; valid until the next call.
static std::span<const Access> accessesOf(Engine &e, std::span<const ArrayAccess> from) {
  e.accesses.clear();
  e.axes.clear();
  for (const ArrayAccess &access : from) {
    size_t rank = e.history.rankOf(access.array);
    if (access.axes.size() == rank)
      e.axes.insert(e.axes.end(), access.axes.begin(), access.axes.end());
    else
      e.axes.resize(e.axes.size() + rank, everything);
    AccessMode mode = access.writes ? AccessMode::Write : AccessMode::Read;
    e.accesses.push_back({access.array, mode, {static_cast<const Axis *>(nullptr), rank}});
  }
  // Boxes point into the list of axes, which is complete only now and no longer moves.
  size_t next = 0;
  for (Access &access : e.accesses) {
    access.box = {e.axes.data() + next, access.box.size()};
    next += access.box.size();
  }
  return e.accesses;
}

/// Records the accesses of a task, and finds its predecessors and the hazards between them.
static void findEdges(Engine &e, LaunchClock &launch, std::span<const Access> accesses) {
  std::vector<TaskRef> found;
  e.history.record({launch.number + 1, launch.number}, accesses, found);
  std::sort(found.begin(), found.end(),
            [](const TaskRef &a, const TaskRef &b) { return a.slot < b.slot; });
  // The lists of `e` are reused below for the accesses of other tasks, so these are copied first.
  std::vector<Access> own(accesses.begin(), accesses.end());
  std::vector<Axis> axes = e.axes;
  for (Access &access : own)
    access.box = {axes.data() + (access.box.data() - e.axes.data()), access.box.size()};
  for (const TaskRef &ref : found) {
    const LaunchClock &before = *e.launches[ref.slot];
    TaskEdge edge{ref.slot, Hazard::ReadAfterWrite, ""};
    bool isKnown = false;
    for (const Access &other : accessesOf(e, before.request.accesses))
      for (const Access &access : own) {
        bool writes = access.mode == AccessMode::Write, wrote = other.mode == AccessMode::Write;
        if (access.storage != other.storage || !(writes || wrote) ||
            !overlaps(access.box, other.box))
          continue;
        Hazard hazard = !writes ? Hazard::ReadAfterWrite
                        : wrote ? Hazard::WriteAfterWrite
                                : Hazard::WriteAfterRead;
        // Of several hazards with one task a read after write counts most: more memory would remove
        // the others.
        if (isKnown && hazard >= edge.hazard)
          continue;
        isKnown = true;
        edge.hazard = hazard;
        edge.array = e.timeline.arrays[access.storage].name;
      }
    const auto &left = e.options.whatIf.unordered;
    if (std::find(left.begin(), left.end(), std::pair(launch.number, ref.slot)) != left.end())
      continue;
    e.timeline.launches[launch.number].waitsFor.push_back(std::move(edge));
  }
}

/// The number of elements of an access's box; at most as many as the array has bytes.
static int64_t elementsOf(const Access &access, int64_t bytes) {
  int64_t count = 1;
  for (const Axis &axis : access.box)
    count = axis.count < bytes / std::max<int64_t>(count, 1) ? count * axis.count : bytes;
  return count;
}

void findWays(Engine &e) {
  if (e.known == e.launches.size())
    return;
  e.known = e.launches.size();
  while (e.launches[e.firstOpen]->done)
    ++e.firstOpen;
  // Edges lead to later tasks, so backwards the successors of each task are complete before the task itself.
  for (size_t task = e.launches.size(); task-- > e.firstOpen;) {
    const LaunchClock &after = *e.launches[task];
    e.longest = std::max(e.longest, after.costToEnd);
    for (const TaskEdge &edge : e.timeline.launches[task].waitsFor) {
      LaunchClock &before = *e.launches[edge.before];
      if (!before.done)
        before.costToEnd = std::max(before.costToEnd, before.cost + after.costToEnd);
    }
  }
}

bool submit(Engine &e, TaskRequest request) {
  if (e.failed)
    return false;
  auto number = static_cast<uint32_t>(e.launches.size());
  e.launches.push_back(std::make_unique<LaunchClock>());
  LaunchClock &launch = *e.launches.back();
  launch.request = std::move(request);
  launch.number = number;
  const Kernel *kernel = launch.request.kernel;
  LaunchSpan &span = e.timeline.launches.emplace_back();
  span.name = launch.request.name;
  span.location = launch.request.location;
  span.blocks = kernel ? launch.request.blocks : 0;
  span.awaited = e.awaitedAt;
  span.awaitedTask = e.awaited;
  if (kernel) {
    span.kernel = kernel->name;
    span.cube = kernel->cube.has_value();
    span.vector = kernel->vector.has_value();
    addSites(e, *kernel);
    if (!e.options.whatIf.launch)
      e.orchestrator += e.model.costs().control.submit;
    for (const Parameter &parameter : kernel->parameters)
      if (parameter.role == "out" || parameter.role == "inout")
        span.writes += (span.writes.empty() ? "" : ", ") + parameter.name;
  }
  span.submitted = e.orchestrator;
  for (const ArrayAccess &access : launch.request.accesses)
    if (std::find(span.arrays.begin(), span.arrays.end(), access.array) == span.arrays.end())
      span.arrays.push_back(access.array);
  findEdges(e, launch, accessesOf(e, launch.request.accesses));
  for (const Access &access : accessesOf(e, launch.request.accesses))
    launch.cost += kernel ? elementsOf(access, e.timeline.arrays[access.storage].bytes) : 0;
  launch.costToEnd = launch.cost;
  launch.waiting = 1; // for its submission by the orchestrator
  for (const TaskEdge &edge : e.timeline.launches[number].waitsFor)
    if (LaunchClock &before = *e.launches[edge.before]; !before.done) {
      ++launch.waiting;
      before.successors.push_back(number);
      // A task that is done delays nothing any more, but it may be the one after which this task
      // became ready.
    } else if (LaunchSpan &own = e.timeline.launches[number];
               e.timeline.launches[edge.before].end >= own.ready) {
      own.ready = e.timeline.launches[edge.before].end;
      own.waitedFor = edge.before;
    }
  Event event{e.orchestrator, 0, EventKind::Submitted};
  event.core = number;
  e.push(event);
  return true;
}

bool await(Engine &e, const ArrayAccess &access) {
  std::vector<TaskRef> found;
  e.history.conflicts(accessesOf(e, {&access, 1}).front(), found);
  bool ok = runUntil(e, [&] {
    return std::all_of(found.begin(), found.end(),
                       [&](const TaskRef &task) { return e.launches[task.slot]->done; });
  });
  for (const TaskRef &task : found)
    if (Cycles end = e.timeline.launches[task.slot].end; end > e.orchestrator) {
      e.orchestrator = e.awaitedAt = end;
      e.awaited = task.slot;
    }
  return ok;
}

bool finish(Engine &e) {
  bool ok = runUntil(e, [&] { return e.done == e.launches.size(); });
  for (const LaunchSpan &launch : e.timeline.launches)
    if (launch.end > e.orchestrator) {
      e.orchestrator = e.awaitedAt = launch.end;
      e.awaited = static_cast<uint32_t>(&launch - e.timeline.launches.data());
    }
  return ok;
}

} // namespace ptl::rt::sim
