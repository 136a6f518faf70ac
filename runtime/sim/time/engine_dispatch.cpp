// Tasks from the orchestrator to the cores.
#include "runtime/sim/time/engine_dispatch.h"
#include "runtime/sim/element.h"
#include "runtime/sim/time/engine_block.h"
#include "runtime/sim/time/engine_repeat.h"
#include "runtime/sim/time/engine_tasks.h"

#include <algorithm>

namespace ptl::rt::sim {

static TaskKind kindOf(const Kernel &kernel) {
  return !kernel.cube ? TaskKind::Aiv : kernel.vector ? TaskKind::Mixed : TaskKind::Aic;
}

static bool complete(Engine &e, LaunchClock &launch) {
  launch.done = true;
  ++e.done;
  LaunchSpan &span = e.timeline.launches[launch.number];
  span.end = e.now;
  e.timeline.end = std::max(e.timeline.end, e.now);
  if (launch.state)
    countLaunch(e, launch);
  size_t next = 0;
  // All blocks of a launch share its workspaces, so these are free only now.
  for (size_t which : launch.request.workspaces)
    e.workspaces[{launch.request.kernel, which}].push_back(
        {launch.request.arrays[which], std::move(launch.storage[next++])});
  launch.state.reset();
  launch.sharing.reset();
  for (uint32_t successor : launch.successors) {
    e.timeline.launches[successor].ready = e.now;
    e.timeline.launches[successor].waitedFor = launch.number;
    // A successor may begin when the last task that it waits for has ended.
    if (!mayBegin(e, successor, e.now))
      return false;
  }
  return true;
}

bool mayBegin(Engine &e, uint32_t task, Cycles time) {
  LaunchClock &launch = *e.launches[task];
  // A task waits for its own submission and for each of its predecessors.
  if (--launch.waiting > 0)
    return true;
  LaunchSpan &span = e.timeline.launches[task];
  // The cause of its start is whatever came last.
  span.cause = span.waitedFor != kNoTask && span.ready > span.submitted ? TaskCause::Dependence
               : task == 0                                              ? TaskCause::Start
                                                                        : TaskCause::Submit;
  span.ready = span.start = span.begun = span.end = time;
  if (task == 0)
    span.start = 0;
  // Work of the host takes no time on the chip.
  if (!launch.request.kernel) {
    if (launch.request.work && !launch.request.work())
      return e.fail("work of the host failed");
    return complete(e, launch);
  }
  // Each task occupies one of the schedulers, so many short tasks may have to wait for one.
  auto scheduler = std::min_element(e.schedulers.begin(), e.schedulers.end());
  Cycles cost = e.options.whatIf.launch ? 0 : e.model.costs().control.dispatch;
  *scheduler = launch.dispatched = std::max(time, *scheduler) + cost;
  Event event{launch.dispatched, 0, EventKind::Dispatched};
  event.core = task;
  e.push(event);
  return true;
}

static void takeWorkspaces(Engine &e, LaunchClock &launch) {
  TaskRequest &request = launch.request;
  for (size_t which : request.workspaces) {
    GlobalArray &pointer = request.pointers[which];
    std::vector<Workspace> &free = e.workspaces[{request.kernel, which}];
    Workspace own;
    if (!free.empty()) {
      // The workspace of an earlier launch is reused once that has ended.
      own = std::move(free.back());
      free.pop_back();
    } else {
      own.array = addArray(e, pointer.bytes, 1, pointer.name, false);
      if (e.options.values)
        own.data = std::make_unique<uint8_t[]>(static_cast<size_t>(pointer.bytes) + 64);
    }
    // Old contents must not be taken for results.
    if (own.data)
      poison(own.data.get(), pointer.bytes);
    pointer.data = own.data.get();
    request.arrays[which] = own.array;
    launch.storage.push_back(std::move(own.data));
  }
}

/// Called when a task gets cores for the first time.
static void takeCores(Engine &e, LaunchClock &launch) {
  launch.begun = true;
  launch.firstAt = e.now;
  launch.filled = e.second.filled();
  takeTurn(e, launch);
  if (!launch.turn.like)
    chooseGroups(e, launch);
}

/// Begins blocks on the cores that the scheduler assigns.
static bool beginBlocks(Engine &e) {
  while (std::optional<Dispatch> dispatch = e.lanes->next()) {
    LaunchClock &launch = *e.launches[e.launchOfLanes[dispatch->task]];
    // Which groups run is decided when the first block gets its cores.
    if (!launch.begun)
      takeCores(e, launch);
    auto number = static_cast<uint32_t>(e.timeline.blocks.size());
    BlockSpan &span = e.timeline.blocks.emplace_back();
    span.launch = launch.number;
    span.block = dispatch->begin;
    span.start = span.begun = span.end = e.now;
    if (!e.options.whatIf.launch)
      span.begun += e.model.costs().control.block;
    // It waited for cores if they became free after the scheduler was.
    span.waited = e.now > launch.dispatched;
    for (LaneId lane : dispatch->lanes)
      for (uint32_t core : e.coresOfLane[lane]) {
        span.cores.push_back(core);
        uint32_t &last = e.lastOnCore[core];
        // Of the blocks that had the cores before, the one that ended last is the cause.
        bool isLater =
            last != kNoTask && (span.before == kNoTask ||
                                e.timeline.blocks[last].end > e.timeline.blocks[span.before].end);
        if (isLater)
          span.before = last;
        last = number;
      }
    e.dispatches.push_back(std::move(*dispatch));
    if (!skipRepresented(e, launch, number))
      beginBlock(e, launch, number);
  }
  return true;
}

bool handOut(Engine &e, LaunchClock &launch) {
  const TaskRequest &request = launch.request;
  takeWorkspaces(e, launch);
  launch.options.values = e.options.values;
  launch.options.countEvents = !e.options.whatIf.without.empty();
  launch.options.sample = e.options.sample;
  launch.options.keepInnerQueues = e.options.keepInnerQueues;
  launch.options.paces = e.options.paces;
  launch.options.maxSteps = e.options.maxSteps;
  launch.state.emplace(LaunchState{*request.kernel,
                                   e.chip,
                                   request.pointers,
                                   request.scalars,
                                   request.blocks,
                                   launch.options,
                                   std::mt19937_64(0),
                                   {},
                                   0,
                                   {}});
  if (std::string wrong = checkArguments(*launch.state); !wrong.empty())
    return e.fail("`" + request.kernel->name + "` " + wrong);
  uint32_t cube = e.firstSite[{request.kernel, true}],
           vector = e.firstSite[{request.kernel, false}];
  // The sites of both functions are consecutive, so one number leads to either.
  launch.firstSite = std::min(cube, vector);
  size_t sites = 0;
  for (const std::optional<Function> *function : {&request.kernel->cube, &request.kernel->vector})
    sites += *function ? (*function)->steps.size() : 0;
  launch.totals.resize(sites);
  launch.touched.resize(request.arrays.size());
  launch.open = request.blocks;
  e.timeline.launches[launch.number].begun = e.now;
  // A grid without points is complete as soon as it begins.
  if (request.blocks <= 0)
    return complete(e, launch);
  int level = levelOf(launch.costToEnd, e.longest, e.options.levels);
  TaskId id = e.lanes->add(kindOf(*request.kernel), request.blocks, 1, level);
  e.launchOfLanes.resize(std::max<size_t>(e.launchOfLanes.size(), id + 1), kNoTask);
  e.launchOfLanes[id] = launch.number;
  return beginBlocks(e);
}

void releaseBlock(Engine &e, uint32_t span, Cycles end, Cycles others) {
  BlockSpan &block = e.timeline.blocks[span];
  block.end = end;
  LaunchClock &launch = *e.launches[block.launch];
  if (!launch.ran.empty())
    launch.ran[static_cast<size_t>(block.block)] = {end - block.start - others, block.works};
  Event event{end, 0, EventKind::Released};
  event.core = span;
  e.push(event);
}

bool blockReleased(Engine &e, uint32_t number) {
  const BlockSpan &block = e.timeline.blocks[number];
  LaunchClock &launch = *e.launches[block.launch];
  LaunchSpan &span = e.timeline.launches[block.launch];
  if (block.works && !block.isRepresented)
    span.lastBlock = number;
  e.lanes->finish(e.dispatches[number]);
  if (--launch.open == 0 && !complete(e, launch))
    return false;
  return beginBlocks(e);
}

} // namespace ptl::rt::sim
