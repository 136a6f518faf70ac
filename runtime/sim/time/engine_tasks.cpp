// Tasks in virtual time: the orchestrator submits them, what they touch orders them, schedulers
// hand them out, and `VirtualLanes` says which cores their blocks run on.
#include "runtime/sim/element.h"
#include "runtime/sim/time/engine.h"

#include <algorithm>

namespace ptl::rt::sim {

/// All positions of an axis of unknown length.
static constexpr Axis everything{0, INT64_MAX / 4, 1};

static TaskKind kindOf(const Kernel &kernel) {
  return !kernel.cube ? TaskKind::Aiv : kernel.vector ? TaskKind::Mixed : TaskKind::Aic;
}

/// A lane for each core: a cube core with the vector cores of its group behind it.
void Timer::Engine::makeLanes() {
  const ControlCost &control = model_.costs().control;
  bool free = options.whatIf.launch;
  // The launch of a program covers its first task, which is submitted and handed out meanwhile.
  if (!free)
    timeline.programBegun = orchestrator_ =
        std::max(0.0, control.launch - control.submit - control.dispatch);
  schedulers_.assign(static_cast<size_t>(std::max(1.0, control.schedulers)), 0);
  uint32_t cubes = 0, vectors = 0;
  for (size_t lane = 0; lane < timeline.lanes.size(); lane += numPipes)
    ++(timeline.lanes[lane].cube ? cubes : vectors);
  auto perCube = static_cast<uint32_t>(std::max<int64_t>(chip_.vectorPerCube, 0));
  Topology topology;
  for (uint32_t group = 0, next = 0; group < cubes || next < vectors; ++group) {
    if (group < cubes) {
      topology.lanes.push_back({LaneKind::Aic, group, 0});
      coresOfLane_.push_back({group});
    }
    for (uint32_t i = 0; i < std::max(perCube, 1u) && next < vectors; ++i, ++next) {
      topology.lanes.push_back({LaneKind::Aiv, group, 0});
      coresOfLane_.push_back({cubes + next});
    }
  }
  lastOnCore_.assign(cubes + vectors, noTask);
  SchedulePolicy policy;
  policy.levels = options.levels;
  policy.oldestFirst = options.seed == 0;
  policy.seed = options.seed;
  lanes_.emplace(topology, policy);
}

uint32_t Timer::Engine::addArray(int64_t bytes, size_t rank, std::string name,
                                 bool isIntermediate) {
  uint32_t number = second.add(bytes, options.warm);
  timeline.arrays.push_back({std::move(name), bytes, isIntermediate});
  StorageId storage = history_.addStorage(rank);
  (void)storage; // has the same number: both count
  return number;
}

/// As the task graph wants them, valid until the next call.
std::span<const Access> Timer::Engine::accessesOf(std::span<const ArrayAccess> from) {
  accesses_.clear();
  axes_.clear();
  for (const ArrayAccess &access : from) {
    size_t rank = history_.rankOf(access.array);
    if (access.axes.size() == rank)
      axes_.insert(axes_.end(), access.axes.begin(), access.axes.end());
    else
      axes_.resize(axes_.size() + rank, everything);
    AccessMode mode = access.writes ? AccessMode::Write : AccessMode::Read;
    accesses_.push_back({access.array, mode, {static_cast<const Axis *>(nullptr), rank}});
  }
  size_t next = 0;
  for (Access &access : accesses_) {
    access.box = {axes_.data() + next, access.box.size()};
    next += access.box.size();
  }
  return accesses_;
}

/// Enters what a task touches, and finds whom it waits for and why.
void Timer::Engine::findEdges(LaunchClock &launch, std::span<const Access> accesses) {
  std::vector<TaskRef> found;
  history_.record({launch.number + 1, launch.number}, accesses, found);
  std::sort(found.begin(), found.end(),
            [](const TaskRef &a, const TaskRef &b) { return a.slot < b.slot; });
  std::vector<Access> own(accesses.begin(), accesses.end());
  std::vector<Axis> axes = axes_;
  for (Access &access : own)
    access.box = {axes.data() + (access.box.data() - axes_.data()), access.box.size()};
  for (const TaskRef &ref : found) {
    const LaunchClock &before = *launches_[ref.slot];
    TaskEdge edge{ref.slot, Hazard::ReadAfterWrite, ""};
    bool isKnown = false;
    for (const Access &other : accessesOf(before.request.accesses))
      for (const Access &access : own) {
        bool writes = access.mode == AccessMode::Write, wrote = other.mode == AccessMode::Write;
        if (access.storage != other.storage || !(writes || wrote) ||
            !overlaps(access.box, other.box))
          continue;
        Hazard hazard = !writes ? Hazard::ReadAfterWrite
                        : wrote ? Hazard::WriteAfterWrite
                                : Hazard::WriteAfterRead;
        if (isKnown && hazard >= edge.hazard)
          continue;
        isKnown = true;
        edge.hazard = hazard;
        edge.array = timeline.arrays[access.storage].name;
      }
    const auto &left = options.whatIf.unordered;
    if (std::find(left.begin(), left.end(), std::pair(launch.number, ref.slot)) != left.end())
      continue;
    timeline.launches[launch.number].waitsFor.push_back(std::move(edge));
  }
}

/// Elements of the box of an access; no more than the array has bytes.
static int64_t elementsOf(const Access &access, int64_t bytes) {
  int64_t count = 1;
  for (const Axis &axis : access.box)
    count = axis.count < bytes / std::max<int64_t>(count, 1) ? count * axis.count : bytes;
  return count;
}

/// Tasks make the ways of those before them longer: the scheduler knows what was submitted so far.
void Timer::Engine::findWays() {
  if (known_ == launches_.size())
    return;
  known_ = launches_.size();
  while (launches_[firstOpen_]->done)
    ++firstOpen_;
  for (size_t task = launches_.size(); task-- > firstOpen_;) { // edges lead to later tasks
    const LaunchClock &after = *launches_[task];
    longest_ = std::max(longest_, after.costToEnd);
    for (const TaskEdge &edge : timeline.launches[task].waitsFor) {
      LaunchClock &before = *launches_[edge.before];
      if (!before.done)
        before.costToEnd = std::max(before.costToEnd, before.cost + after.costToEnd);
    }
  }
}

bool Timer::Engine::submit(TaskRequest request) {
  if (failed_)
    return false;
  auto number = static_cast<uint32_t>(launches_.size());
  launches_.push_back(std::make_unique<LaunchClock>());
  LaunchClock &launch = *launches_.back();
  launch.request = std::move(request);
  launch.number = number;
  const Kernel *kernel = launch.request.kernel;
  LaunchSpan &span = timeline.launches.emplace_back();
  span.name = launch.request.name;
  span.location = launch.request.location;
  span.blocks = kernel ? launch.request.blocks : 0;
  span.awaited = awaitedAt_;
  span.awaitedTask = awaited_;
  if (kernel) {
    span.kernel = kernel->name;
    span.cube = kernel->cube.has_value();
    span.vector = kernel->vector.has_value();
    addSites(*kernel);
    if (!options.whatIf.launch)
      orchestrator_ += model_.costs().control.submit;
    for (const Parameter &parameter : kernel->parameters)
      if (parameter.role == "out" || parameter.role == "inout")
        span.writes += (span.writes.empty() ? "" : ", ") + parameter.name;
  }
  span.submitted = orchestrator_;
  for (const ArrayAccess &access : launch.request.accesses)
    if (std::find(span.arrays.begin(), span.arrays.end(), access.array) == span.arrays.end())
      span.arrays.push_back(access.array);
  findEdges(launch, accessesOf(launch.request.accesses));
  for (const Access &access : accessesOf(launch.request.accesses))
    launch.cost += kernel ? elementsOf(access, timeline.arrays[access.storage].bytes) : 0;
  launch.costToEnd = launch.cost;
  launch.waiting = 1; // for the orchestrator
  for (const TaskEdge &edge : timeline.launches[number].waitsFor)
    if (LaunchClock &before = *launches_[edge.before]; !before.done) {
      ++launch.waiting;
      before.successors.push_back(number);
    } else if (LaunchSpan &own = timeline.launches[number];
               timeline.launches[edge.before].end >= own.ready) {
      own.ready = timeline.launches[edge.before].end;
      own.waitedFor = edge.before;
    }
  Event event{orchestrator_, 0, EventKind::Submitted};
  event.core = number;
  push(event);
  return true;
}

bool Timer::Engine::await(const ArrayAccess &access) {
  std::vector<TaskRef> found;
  history_.conflicts(accessesOf({&access, 1}).front(), found);
  bool ok = runUntil([&] {
    return std::all_of(found.begin(), found.end(),
                       [&](const TaskRef &task) { return launches_[task.slot]->done; });
  });
  for (const TaskRef &task : found)
    if (Cycles end = timeline.launches[task.slot].end; end > orchestrator_) {
      orchestrator_ = awaitedAt_ = end;
      awaited_ = task.slot;
    }
  return ok;
}

bool Timer::Engine::finish() {
  bool ok = runUntil([&] { return done_ == launches_.size(); });
  for (const LaunchSpan &launch : timeline.launches)
    if (launch.end > orchestrator_) {
      orchestrator_ = awaitedAt_ = launch.end;
      awaited_ = static_cast<uint32_t>(&launch - timeline.launches.data());
    }
  return ok;
}

/// One thing less that a task waits for; the last one makes a scheduler hand it out.
bool Timer::Engine::mayBegin(uint32_t task, Cycles time) {
  LaunchClock &launch = *launches_[task];
  if (--launch.waiting > 0)
    return true;
  LaunchSpan &span = timeline.launches[task];
  span.cause = span.waitedFor != noTask && span.ready > span.submitted ? TaskCause::Dependence
               : task == 0                                             ? TaskCause::Start
                                                                       : TaskCause::Submit;
  span.ready = span.start = span.begun = span.end = time;
  if (task == 0)
    span.start = 0;
  if (!launch.request.kernel) {
    if (launch.request.work && !launch.request.work())
      return fail("work of the host failed");
    return complete(launch);
  }
  auto scheduler = std::min_element(schedulers_.begin(), schedulers_.end());
  Cycles cost = options.whatIf.launch ? 0 : model_.costs().control.dispatch;
  *scheduler = launch.dispatched = std::max(time, *scheduler) + cost;
  Event event{launch.dispatched, 0, EventKind::Dispatched};
  event.core = task;
  push(event);
  return true;
}

void Timer::Engine::takeWorkspaces(LaunchClock &launch) {
  TaskRequest &request = launch.request;
  for (size_t which : request.workspaces) {
    GlobalArray &pointer = request.pointers[which];
    std::vector<Workspace> &free = workspaces_[{request.kernel, which}];
    Workspace own;
    if (!free.empty()) {
      own = std::move(free.back());
      free.pop_back();
    } else {
      own.array = addArray(pointer.bytes, 1, pointer.name, false);
      if (options.values)
        own.data = std::make_unique<uint8_t[]>(static_cast<size_t>(pointer.bytes) + 64);
    }
    if (own.data)
      poison(own.data.get(), pointer.bytes);
    pointer.data = own.data.get();
    request.arrays[which] = own.array;
    launch.storage.push_back(std::move(own.data));
  }
}

/// A scheduler has the task ready for cores.
bool Timer::Engine::handOut(LaunchClock &launch) {
  const TaskRequest &request = launch.request;
  takeWorkspaces(launch);
  launch.options.values = options.values;
  launch.options.countEvents = !options.whatIf.without.empty();
  launch.options.sample = options.sample;
  launch.options.keepInnerQueues = options.keepInnerQueues;
  launch.options.paces = options.paces;
  launch.options.maxSteps = options.maxSteps;
  launch.state.emplace(LaunchState{*request.kernel,
                                   chip_,
                                   request.pointers,
                                   request.scalars,
                                   request.blocks,
                                   launch.options,
                                   std::mt19937_64(0),
                                   {},
                                   0,
                                   {}});
  if (std::string wrong = checkArguments(*launch.state); !wrong.empty())
    return fail("`" + request.kernel->name + "` " + wrong);
  uint32_t cube = firstSite_[{request.kernel, true}], vector = firstSite_[{request.kernel, false}];
  launch.firstSite = std::min(cube, vector);
  size_t sites = 0;
  for (const std::optional<Function> *function : {&request.kernel->cube, &request.kernel->vector})
    sites += *function ? (*function)->steps.size() : 0;
  launch.totals.resize(sites);
  launch.open = request.blocks;
  timeline.launches[launch.number].begun = now_;
  if (request.blocks <= 0)
    return complete(launch);
  int level = levelOf(launch.costToEnd, longest_, options.levels);
  TaskId id = lanes_->add(kindOf(*request.kernel), request.blocks, 1, level);
  launchOfLanes_.resize(std::max<size_t>(launchOfLanes_.size(), id + 1), noTask);
  launchOfLanes_[id] = launch.number;
  return beginBlocks();
}

/// A task has cores for the first time.
void Timer::Engine::take(LaunchClock &launch) {
  launch.begun = true;
  takeTurn(launch);
  if (!launch.turn.like)
    share(launch);
}

/// Blocks begin on the cores that the scheduler names.
bool Timer::Engine::beginBlocks() {
  while (std::optional<Dispatch> dispatch = lanes_->next()) {
    LaunchClock &launch = *launches_[launchOfLanes_[dispatch->task]];
    if (!launch.begun)
      take(launch);
    auto number = static_cast<uint32_t>(timeline.blocks.size());
    BlockSpan &span = timeline.blocks.emplace_back();
    span.launch = launch.number;
    span.block = dispatch->begin;
    span.start = span.begun = span.end = now_;
    if (!options.whatIf.launch)
      span.begun += model_.costs().control.block;
    span.waited = now_ > launch.dispatched;
    for (LaneId lane : dispatch->lanes)
      for (uint32_t core : coresOfLane_[lane]) {
        span.cores.push_back(core);
        uint32_t &last = lastOnCore_[core];
        bool isLater =
            last != noTask &&
            (span.before == noTask || timeline.blocks[last].end > timeline.blocks[span.before].end);
        if (isLater)
          span.before = last;
        last = number;
      }
    dispatches_.push_back(std::move(*dispatch));
    if (!standsBack(launch, number))
      beginBlock(launch, number);
  }
  return true;
}

void Timer::Engine::releaseBlock(uint32_t span, Cycles end) {
  BlockSpan &block = timeline.blocks[span];
  block.end = end;
  LaunchClock &launch = *launches_[block.launch];
  if (!launch.ran.empty())
    launch.ran[static_cast<size_t>(block.block)] = {end - block.start, block.works};
  Event event{end, 0, EventKind::Released};
  event.core = span;
  push(event);
}

bool Timer::Engine::blockReleased(uint32_t number) {
  const BlockSpan &block = timeline.blocks[number];
  LaunchClock &launch = *launches_[block.launch];
  LaunchSpan &span = timeline.launches[block.launch];
  if (block.works && !block.standsBack)
    span.lastBlock = number;
  lanes_->finish(dispatches_[number]);
  if (--launch.open == 0 && !complete(launch))
    return false;
  return beginBlocks();
}

bool Timer::Engine::complete(LaunchClock &launch) {
  launch.done = true;
  ++done_;
  LaunchSpan &span = timeline.launches[launch.number];
  span.end = now_;
  timeline.end = std::max(timeline.end, now_);
  if (launch.state)
    count(launch);
  size_t next = 0;
  for (size_t which : launch.request.workspaces)
    workspaces_[{launch.request.kernel, which}].push_back(
        {launch.request.arrays[which], std::move(launch.storage[next++])});
  launch.state.reset();
  launch.sharing.reset();
  for (uint32_t successor : launch.successors) {
    timeline.launches[successor].ready = now_;
    timeline.launches[successor].waitedFor = launch.number;
    if (!mayBegin(successor, now_))
      return false;
  }
  return true;
}

bool Timer::Engine::taskEvent(const Event &event) {
  if (event.kind == EventKind::Submitted)
    return mayBegin(event.core, now_);
  if (event.kind == EventKind::Dispatched)
    return handOut(*launches_[event.core]);
  return blockReleased(event.core);
}

// ---- the outside --------------------------------------------------------------------------------

Timer::Timer(const Machine &machine, const MachineCosts &costs, TimeOptions options)
    : engine_(std::make_unique<Engine>(machine, costs, std::move(options))) {}
Timer::~Timer() = default;

uint32_t Timer::addArray(int64_t bytes, size_t rank, std::string name, bool isIntermediate) {
  return engine_->addArray(bytes, rank, std::move(name), isIntermediate);
}

bool Timer::submit(TaskRequest request) { return engine_->submit(std::move(request)); }
bool Timer::await(const ArrayAccess &access) { return engine_->await(access); }
bool Timer::finish() { return engine_->finish(); }

bool Timer::run(const Kernel &kernel, std::span<const GlobalArray> pointers,
                std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks) {
  TaskRequest request;
  request.kernel = &kernel;
  request.pointers.assign(pointers.begin(), pointers.end());
  request.arrays.assign(arrays.begin(), arrays.end());
  request.scalars.assign(scalars.begin(), scalars.end());
  request.blocks = blocks;
  return finish() && submit(std::move(request)) && finish();
}

int64_t Timer::groupsFor(const Kernel &kernel) const { return engine_->groupsFor(kernel); }
const Timeline &Timer::timeline() const { return engine_->timeline; }
Timeline Timer::take() { return std::move(engine_->timeline); }

} // namespace ptl::rt::sim
