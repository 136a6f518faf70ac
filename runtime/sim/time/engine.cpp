// Blocks of tasks on core groups: events happen in order of time.
#include "runtime/sim/time/engine.h"

#include "machines/machine.h"

#include <algorithm>
#include <utility>

namespace ptl::rt::sim {

static double rateOr(double rate) { return rate > 0 ? rate : never; }

Timer::Engine::Engine(const Machine &machine, const MachineCosts &costs, TimeOptions given)
    : second(costs.memory.l2Bytes ? costs.memory.l2Bytes : INT64_MAX >> 24,
             costs.memory.lineBytes ? costs.memory.lineBytes : 512),
      options(std::move(given)), machine_(machine), chip_(chipOf(machine)), model_(machine, costs),
      l2_(rateOr(costs.memory.l2Rate)), memory_(rateOr(costs.memory.memoryRate)),
      hub_(options.whatIf.signals || options.whatIf.crossCore ? 0 : costs.control.signal) {
  timeline.clockMhz = model_.clockMhz();
  timeline.signal = costs.control.signal;
  if (options.whatIf.padding)
    model_.leaveOutPadding();
  for (const char *kind : {"aic", "aiv"}) {
    const MachineCore *cores = machine.core(kind);
    int64_t count = cores && cores->count ? cores->count : kind[2] == 'c' ? 1 : 2;
    for (int64_t i = 0; i < count * static_cast<int64_t>(numPipes); ++i)
      timeline.lanes.push_back({kind[2] == 'c', static_cast<int32_t>(i / int64_t(numPipes)),
                                static_cast<Pipe>(i % int64_t(numPipes))});
  }
  timeline.used.assign(timeline.lanes.size(), false);
  makeLanes();
  for (uint32_t site : options.whatIf.without) {
    left_.resize(std::max<size_t>(left_.size(), site + 1));
    left_[site] = true;
  }
}

int64_t Timer::Engine::groupsFor(const Kernel &kernel) const {
  const MachineCore *cores = machine_.core(kernel.cube ? "aic" : "aiv");
  return cores && cores->count ? cores->count : kernel.cube ? 1 : chip_.vectorPerCube;
}

bool Timer::Engine::fail(std::string message) {
  if (timeline.ok) {
    timeline.ok = false;
    timeline.error = std::move(message);
  }
  failed_ = true;
  return false;
}

bool Timer::Engine::fail(const GroupClock &clock) {
  const Result &result = clock.launch->state->result;
  if (!failed_)
    timeline.failedCheck = result.failedCheck;
  return fail(result.error);
}

static double signalsOf(const Step &step, const Kernel &kernel) {
  if (step.kind == StepKind::Free)
    return 1 /
           static_cast<double>(freedAtOnce(kernel.queues[static_cast<size_t>(step.queue)].slots));
  return step.kind == StepKind::SignalCores || step.kind == StepKind::Push ? 1 : 0;
}

void Timer::Engine::addSites(const Kernel &kernel) {
  for (bool cube : {true, false}) {
    const std::optional<Function> &function = cube ? kernel.cube : kernel.vector;
    auto [place, fresh] =
        firstSite_.insert({{&kernel, cube}, static_cast<uint32_t>(timeline.sites.size())});
    if (!function || !fresh)
      continue;
    for (const Step &step : function->steps) {
      Site site{.kernel = kernel.name,
                .kind = step.kind,
                .pipe = step.pipe,
                .cube = cube,
                .flag = step.flag,
                .queue = step.queue,
                .name = std::string(nameOf(step)),
                .location = function->locations[static_cast<size_t>(step.location)],
                .why = {},
                .signals = signalsOf(step, kernel)};
      if (step.why >= 0)
        site.why = function->reasons[static_cast<size_t>(step.why)];
      timeline.sites.push_back(std::move(site));
    }
  }
  timeline.totals.resize(timeline.sites.size());
}

/// Of as many blocks as there are core groups some may stand for all.
void Timer::Engine::share(LaunchClock &launch) {
  const TaskRequest &request = launch.request;
  int64_t groups = groupsFor(*request.kernel);
  if (options.mostGroups && request.blocks > options.mostGroups && request.blocks <= groups)
    launch.sharing.emplace(*request.kernel, chip_, request.pointers, request.scalars,
                           request.blocks, options.mostGroups, model_, second.empty());
  if (launch.sharing && !launch.sharing->isKnown())
    launch.sharing.reset();
  if (launch.sharing)
    timeline.launches[launch.number].standing =
        static_cast<int64_t>(launch.sharing->chosen().size());
}

/// Whether another block runs in the place of this one: it takes as long as that, and no time if it
/// has no work.
bool Timer::Engine::standsBack(LaunchClock &launch, uint32_t span) {
  BlockSpan &block = timeline.blocks[span];
  if (const auto &like = launch.turn.like) {
    const LaunchResult::Block &other = like->blocks[static_cast<size_t>(block.block)];
    block.standsBack = true;
    block.works = other.works;
    releaseBlock(span, now_ + other.took);
    return true;
  }
  if (!launch.sharing)
    return false;
  const std::vector<int64_t> &chosen = launch.sharing->chosen();
  auto after = std::upper_bound(chosen.begin(), chosen.end(), block.block);
  bool isFirst = after == chosen.begin();
  if (!isFirst && *std::prev(after) == block.block)
    return false;
  block.standsBack = true;
  block.works = launch.sharing->working().count(block.block) && !isFirst;
  if (!block.works) {
    releaseBlock(span, now_ + 2 * model_.costs().control.issue);
    return true;
  }
  int64_t runs = *std::prev(after);
  if (auto took = launch.took.find(runs); took != launch.took.end())
    releaseBlock(span, now_ + took->second);
  else
    launch.behind[runs].push_back(span);
  return true;
}

void Timer::Engine::makeCore(GroupClock &clock, Core &core) {
  auto made = std::make_unique<CoreClock>();
  made->core = &core;
  made->group = &clock;
  made->number = static_cast<uint32_t>(cores_.size());
  const std::vector<uint32_t> &cores = timeline.blocks[clock.span].cores;
  bool withCube = clock.launch->request.kernel->cube.has_value();
  size_t place = core.isCube() ? 0 : static_cast<size_t>(core.subBlock()) + withCube;
  made->firstLane = cores[std::min(place, cores.size() - 1)] * static_cast<uint32_t>(numPipes);
  made->firstSite = firstSite_[{clock.launch->request.kernel, core.isCube()}];
  std::fill_n(&made->flagRecord[0][0][0], numPipes * numPipes * 16, noRecord);
  cores_.push_back(made.get());
  clock.cores.push_back(std::move(made));
}

/// A core tells the others of its group something.
void Timer::Engine::send(GroupClock &clock, QueueSignal signal, int32_t queue, int32_t core) {
  if (signal == QueueSignal::Popped) // nobody waits for it
    return clock.group->apply(signal, queue, core);
  int64_t times = 1;
  if (signal == QueueSignal::Freed) {
    int64_t &freed = clock.freed[{queue, core}];
    const Kernel &kernel = *clock.launch->request.kernel;
    if (++freed < freedAtOnce(kernel.queues[static_cast<size_t>(queue)].slots))
      return;
    times = std::exchange(freed, 0);
  }
  ++clock.signals;
  Cycles queued = (options.sample ? clock.hub : hub_).pass(now_);
  Cycles later = options.whatIf.crossCore ? 0 : model_.costs().control.crossCore;
  Event event{now_ + queued + later, 0, EventKind::Signal};
  event.signal = signal;
  event.core = clock.cores[static_cast<size_t>(core)]->number;
  event.queue = queue;
  event.record = actor_;
  event.queued = queued;
  event.times = times;
  push(event);
}

/// How many core groups signal while one does.
double Timer::Engine::groupsInTurn(const LaunchClock &launch, uint32_t span) const {
  if (launch.sharing)
    return launch.sharing->groupsInTurn(timeline.blocks[span].block);
  const TaskRequest &request = launch.request;
  return static_cast<double>(std::min(request.blocks, groupsFor(*request.kernel)));
}

void Timer::Engine::beginBlock(LaunchClock &launch, uint32_t span) {
  auto clock = std::make_unique<GroupClock>();
  const Kernel &kernel = *launch.request.kernel;
  clock->launch = &launch;
  clock->span = span;
  clock->group = std::make_unique<Group>(*launch.state, timeline.blocks[span].block);
  clock->tiles.resize(kernel.queues.size());
  clock->slots.resize(kernel.queues.size());
  clock->events.resize(maxCrossFlags);
  if (options.sample)
    clock->hub = SignalHub::shareOf(hub_.each(), groupsInTurn(launch, span));
  GroupClock *self = clock.get();
  clock->group->onSignal = [this, self](QueueSignal signal, int32_t queue, int32_t core) {
    send(*self, signal, queue, core);
  };
  for (const std::unique_ptr<Core> &core : clock->group->cores())
    makeCore(*clock, *core);
  Cycles time = timeline.blocks[span].begun;
  for (const std::unique_ptr<CoreClock> &core : clock->cores) {
    core->scalar = time;
    for (PipeClock &pipe : core->pipes)
      pipe.free = pipe.settled = time;
    Event event{time, 0, EventKind::Begin};
    event.core = core->number;
    push(event);
  }
  groups_[span] = std::move(clock);
}

bool Timer::Engine::endGroup(GroupClock &clock) {
  if (clock.signals || !clock.group->isFinished())
    return true;
  for (auto [who, times] : clock.freed)
    for (; times > 0; --times)
      clock.group->apply(QueueSignal::Freed, who.first, who.second);
  if (!clock.group->finish())
    return fail(clock);
  LaunchClock &launch = *clock.launch;
  LaunchSpan &whole = timeline.launches[launch.number];
  BlockSpan &block = timeline.blocks[clock.span];
  Cycles end = now_, last = -1;
  for (const std::unique_ptr<CoreClock> &core : clock.cores) {
    if (const std::map<size_t, double> *rounds = core->core->rounds())
      for (const auto &[step, cycles] : *rounds) {
        Cycles &known = timeline.paces[core->firstSite + static_cast<uint32_t>(step)];
        known = std::max(known, cycles);
      }
    whole.skipped = std::max(whole.skipped, core->core->skippedRounds());
    end = std::max(end, core->scalar);
    for (const PipeClock &pipe : core->pipes) {
      end = std::max({end, pipe.free, pipe.settled});
      block.works |= pipe.works;
      if (pipe.last != noRecord && std::max(pipe.free, pipe.settled) > last) {
        last = std::max(pipe.free, pipe.settled);
        block.last = pipe.last;
      }
    }
  }
  for (const std::unique_ptr<CoreClock> &core : clock.cores)
    cores_[core->number] = nullptr;
  uint32_t span = clock.span;
  groups_.erase(span); // and the clock
  Cycles took = end - block.start;
  launch.took[block.block] = took;
  for (uint32_t other : launch.behind[block.block])
    releaseBlock(other, std::max(now_, timeline.blocks[other].start + took));
  releaseBlock(span, end);
  return true;
}

/// A transfer has all its bytes from this level.
void Timer::Engine::leaveShared(SharedRate &rate) {
  Cycles time = rate.next();
  uint32_t id = rate.leave();
  CoreClock &clock = *cores_[id / numPipes];
  PipeClock &pipe = clock.pipes[id % numPipes];
  if (--pipe.pending > 0)
    return;
  Event event{std::max(time, pipe.ownEnd), 0, EventKind::End};
  event.core = clock.number;
  event.pipe = static_cast<uint8_t>(id % numPipes);
  push(event);
}

bool Timer::Engine::step() {
  Event event = events_.top();
  events_.pop();
  now_ = event.time;
  if (event.kind >= EventKind::Submitted)
    return taskEvent(event);
  CoreClock *clock = cores_[event.core];
  if (!clock) // a look at a core that has ended since
    return true;
  switch (event.kind) {
  case EventKind::Begin:
    clock->begun = true;
    if (!clock->core->begin())
      return fail(*clock->group);
    break;
  case EventKind::End:
    if (!end(*clock, static_cast<Pipe>(event.pipe)))
      return false;
    break;
  default:
    break;
  case EventKind::Signal: {
    GroupClock &group = *clock->group;
    for (int64_t i = 0; i < event.times; ++i)
      group.group->apply(event.signal, event.queue, clock->core->index());
    auto &arrivals = event.signal == QueueSignal::Signalled ? group.events
                     : event.signal == QueueSignal::Pushed  ? group.tiles
                                                            : group.slots;
    arrivals[static_cast<size_t>(event.queue)] = {now_, event.queued, event.record};
    --group.signals;
    break;
  }
  }
  GroupClock &group = *clock->group;
  bool all = event.kind == EventKind::Signal;
  if (!all && !progress(*clock))
    return false;
  if (all || clock->core->isFinished()) // who is left out of a queue holds nobody up
    for (const std::unique_ptr<CoreClock> &core : group.cores)
      if (!progress(*core))
        return false;
  return !group.group->isFinished() || endGroup(group);
}

/// The rate whose next transfer is done first.
SharedRate &Timer::Engine::nextShared() { return memory_.next() < l2_.next() ? memory_ : l2_; }

/// The next thing that happens; false after an error.
bool Timer::Engine::stepOnce() {
  Cycles event = events_.empty() ? never : events_.top().time;
  if (SharedRate &shared = nextShared(); shared.next() <= event) {
    leaveShared(shared);
    return true;
  }
  if (!step())
    return false;
  if (options.maxOperations && timeline.operations > options.maxOperations)
    return fail("more than " + std::to_string(options.maxOperations) + " operations");
  return true;
}

/// False after an error, also when nothing can happen any more and it is not done.
bool Timer::Engine::runUntil(const std::function<bool()> &isDone) {
  findWays();
  while (!failed_ && !isDone()) {
    if (!events_.empty() || nextShared().next() != never) {
      stepOnce();
      continue;
    }
    for (const auto &[span, group] : groups_)
      return fail("block " + std::to_string(group->group->block()) + " of `" +
                  group->launch->request.kernel->name +
                  "` waits for ever:" + group->group->describeWaits());
    return fail("tasks wait for each other for ever");
  }
  return !failed_;
}

} // namespace ptl::rt::sim
