// Launches: core groups get blocks, events happen in order of time.
#include "runtime/sim/time/engine.h"

#include <algorithm>
#include <numeric>

namespace ptl::rt::sim {

static double rateOr(double rate) { return rate > 0 ? rate : never; }

Timer::Engine::Engine(const Machine &machine, const MachineCosts &costs, TimeOptions given)
    : second(costs.memory.l2Bytes ? costs.memory.l2Bytes : INT64_MAX >> 24,
             costs.memory.lineBytes ? costs.memory.lineBytes : 512),
      options(std::move(given)), machine_(machine), chip_(chipOf(machine)), model_(machine, costs),
      l2_(rateOr(costs.memory.l2Rate)), memory_(rateOr(costs.memory.memoryRate)) {
  timeline.clockMhz = model_.clockMhz();
  if (options.whatIf.padding)
    model_.leaveOutPadding();
  for (const char *kind : {"aic", "aiv"}) {
    const MachineCore *cores = machine.core(kind);
    int64_t count = cores && cores->count ? cores->count : kind[2] == 'c' ? 1 : 2;
    for (int64_t i = 0; i < count * static_cast<int64_t>(numPipes); ++i)
      timeline.lanes.push_back({kind[2] == 'c', static_cast<int32_t>(i / int64_t(numPipes)),
                                static_cast<Pipe>(i % int64_t(numPipes))});
  }
  timeline.busy.assign(timeline.lanes.size(), 0);
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
                .why = {}};
      if (step.why >= 0)
        site.why = function->reasons[static_cast<size_t>(step.why)];
      timeline.sites.push_back(std::move(site));
    }
  }
  timeline.totals.resize(timeline.sites.size());
}

bool Timer::Engine::run(const Kernel &kernel, std::span<const GlobalArray> pointers,
                        std::span<const uint32_t> arrays, std::span<const Scalar> scalars,
                        int64_t blocks) {
  if (failed_)
    return false;
  addSites(kernel);
  runOptions_ = {};
  runOptions_.values = options.values;
  runOptions_.countEvents = !options.whatIf.without.empty();
  runOptions_.sample = options.sample;
  runOptions_.maxSteps = options.maxSteps;
  launch_.emplace(LaunchState{
      kernel, chip_, pointers, scalars, blocks, runOptions_, std::mt19937_64(0), {}, 0, {}});
  if (std::string wrong = checkArguments(*launch_); !wrong.empty())
    return fail("`" + kernel.name + "` " + wrong);
  arrays_ = arrays;
  const ControlCost &control = model_.costs().control;
  bool first = timeline.launches.empty();
  LaunchSpan span{kernel.name, timeline.end, timeline.end, timeline.end, blocks};
  if (!options.whatIf.launch)
    span.begun += first ? control.launch : control.dispatch;
  now_ = launchEnd_ = span.begun;
  int64_t slots = std::min(groupsFor(kernel), blocks);
  groups_.resize(static_cast<size_t>(slots));
  cores_.clear();
  timeline.groupEnd.resize(std::max(timeline.groupEnd.size(), static_cast<size_t>(slots)));
  nextBlock_ = slots;
  skipped_ = 0;
  for (int64_t block : blocksToRun(kernel, pointers, scalars, slots, blocks))
    beginBlock(block, block, span.begun);
  std::vector<SiteTotal> before = timeline.totals;
  int64_t bytes = timeline.bytes, missed = timeline.missed;
  bool ok = loop();
  if (sharing_)
    standForAll(span, before, bytes, missed);
  span.end = timeline.end = launchEnd_;
  span.skipped = skipped_;
  timeline.launches.push_back(span);
  timeline.instructions += launch_->result.instructions;
  groups_.clear();
  return ok;
}

/// Of as many blocks as there are core groups the first of each group; with `mostGroups` some of
/// these.
std::vector<int64_t> Timer::Engine::blocksToRun(const Kernel &kernel,
                                                std::span<const GlobalArray> pointers,
                                                std::span<const Scalar> scalars, int64_t slots,
                                                int64_t blocks) {
  sharing_.reset();
  if (options.mostGroups && slots > options.mostGroups && slots == blocks)
    sharing_.emplace(kernel, chip_, pointers, scalars, blocks, options.mostGroups);
  if (sharing_ && !sharing_->isKnown())
    sharing_.reset();
  double part = sharing_ ? 1 / sharing_->weight() : 1;
  l2_.setPart(part);
  memory_.setPart(part);
  if (sharing_)
    return sharing_->chosen();
  std::vector<int64_t> all(static_cast<size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// What the chosen core groups did in a launch counts for those that they stand for.
void Timer::Engine::standForAll(LaunchSpan &span, const std::vector<SiteTotal> &before,
                                int64_t bytes, int64_t missed) {
  double weight = sharing_->weight();
  for (size_t i = 0; i < timeline.totals.size(); ++i) {
    SiteTotal &total = timeline.totals[i];
    auto scaled = [&](auto now, auto then) {
      return then + static_cast<decltype(now)>(static_cast<double>(now - then) * weight);
    };
    total.count = scaled(total.count, before[i].count);
    total.busy = scaled(total.busy, before[i].busy);
    total.stall = scaled(total.stall, before[i].stall);
  }
  auto more = [&](int64_t now, int64_t then) {
    return static_cast<int64_t>(static_cast<double>(now - then) * (weight - 1));
  };
  second.forget(more(timeline.missed, missed));
  timeline.bytes += more(timeline.bytes, bytes);
  timeline.missed += more(timeline.missed, missed);
  for (uint32_t array : arrays_)
    second.setTouched(array);
  // The others end as the chosen one before them does, those without work at once.
  span.standing = static_cast<int64_t>(sharing_->chosen().size());
  for (size_t slot = 0; slot < timeline.groupEnd.size(); ++slot) {
    auto block = static_cast<int64_t>(slot);
    const std::vector<int64_t> &chosen = sharing_->chosen();
    auto after = std::upper_bound(chosen.begin(), chosen.end(), block);
    bool works = sharing_->working().count(block) && after != chosen.begin();
    timeline.groupEnd[slot] = works ? timeline.groupEnd[static_cast<size_t>(*std::prev(after))]
                                    : span.begun + 2 * model_.costs().control.issue;
  }
}

void Timer::Engine::makeCore(GroupClock &clock, Core &core) {
  auto made = std::make_unique<CoreClock>();
  made->core = &core;
  made->group = &clock;
  made->number = static_cast<uint32_t>(cores_.size());
  int64_t vectors = clock.group->numVector();
  int64_t lane = clock.slot;
  if (!core.isCube()) {
    const MachineCore *cubes = machine_.core("aic");
    lane = (cubes && cubes->count ? cubes->count : 1) + clock.slot * vectors + core.subBlock();
  }
  made->firstLane = static_cast<uint32_t>(std::min<int64_t>(
      lane * int64_t(numPipes), static_cast<int64_t>(timeline.lanes.size() - numPipes)));
  made->firstSite = firstSite_[{&launch_->kernel, core.isCube()}];
  std::fill_n(&made->flagRecord[0][0][0], numPipes * numPipes * 16, noRecord);
  cores_.push_back(made.get());
  clock.cores.push_back(std::move(made));
}

void Timer::Engine::beginBlock(int64_t slot, int64_t block, Cycles time) {
  auto clock = std::make_unique<GroupClock>();
  clock->slot = slot;
  clock->group = std::make_unique<Group>(*launch_, block);
  clock->tiles.resize(launch_->kernel.queues.size());
  clock->slots.resize(launch_->kernel.queues.size());
  GroupClock *self = clock.get();
  clock->group->onSignal = [this, self](QueueSignal signal, int32_t queue, int32_t core) {
    if (signal == QueueSignal::Popped) // nobody waits for it
      return self->group->apply(signal, queue, core);
    ++self->signals;
    Cycles later = options.whatIf.crossCore ? 0 : model_.costs().control.crossCore;
    Event event{now_ + later, 0, EventKind::Signal};
    event.signal = signal;
    event.core = self->cores[static_cast<size_t>(core)]->number;
    event.queue = queue;
    event.record = actor_;
    push(event);
  };
  for (const std::unique_ptr<Core> &core : clock->group->cores())
    makeCore(*clock, *core);
  if (!options.whatIf.launch)
    time += model_.costs().control.block;
  for (const std::unique_ptr<CoreClock> &core : clock->cores) {
    core->scalar = time;
    for (PipeClock &pipe : core->pipes)
      pipe.free = pipe.settled = time;
    Event event{time, 0, EventKind::Begin};
    event.core = core->number;
    push(event);
  }
  groups_[static_cast<size_t>(slot)] = std::move(clock);
}

bool Timer::Engine::endGroup(GroupClock &clock) {
  if (clock.signals || !clock.group->isFinished())
    return true;
  if (!clock.group->finish())
    return fail(launch_->result.error);
  Cycles end = now_;
  for (const std::unique_ptr<CoreClock> &core : clock.cores) {
    skipped_ = std::max(skipped_, core->core->skippedRounds());
    end = std::max(end, core->scalar);
    for (const PipeClock &pipe : core->pipes)
      end = std::max({end, pipe.free, pipe.settled});
  }
  launchEnd_ = std::max(launchEnd_, end);
  timeline.groupEnd[static_cast<size_t>(clock.slot)] = end;
  int64_t slot = clock.slot;
  for (const std::unique_ptr<CoreClock> &core : clock.cores)
    cores_[core->number] = nullptr;
  groups_[static_cast<size_t>(slot)].reset();
  if (nextBlock_ < launch_->blocks)
    beginBlock(slot, nextBlock_++, end);
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
  CoreClock *clock = cores_[event.core];
  if (!clock) // a look at a core that has ended since
    return true;
  switch (event.kind) {
  case EventKind::Begin:
    if (!clock->core->begin())
      return fail(launch_->result.error);
    break;
  case EventKind::End:
    if (!end(*clock, static_cast<Pipe>(event.pipe)))
      return false;
    break;
  case EventKind::Wake:
    break;
  case EventKind::Signal: {
    GroupClock &group = *clock->group;
    group.group->apply(event.signal, event.queue, clock->core->index());
    auto &arrivals = event.signal == QueueSignal::Pushed ? group.tiles : group.slots;
    arrivals[static_cast<size_t>(event.queue)] = {now_, event.record};
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

bool Timer::Engine::loop() {
  for (;;) {
    Cycles event = events_.empty() ? never : events_.top().time;
    Cycles shared = std::min(l2_.next(), memory_.next());
    if (event == never && shared == never)
      break;
    if (shared <= event) {
      leaveShared(l2_.next() <= memory_.next() ? l2_ : memory_);
      continue;
    }
    if (!step())
      return false;
    if (options.maxOperations && timeline.operations > options.maxOperations)
      return fail("more than " + std::to_string(options.maxOperations) + " operations");
  }
  for (const std::unique_ptr<GroupClock> &group : groups_)
    if (group)
      return fail("block " + std::to_string(group->group->block()) + " of `" +
                  launch_->kernel.name + "` waits for ever:" + group->group->describeWaits());
  return true;
}

// ---- the outside
// -----------------------------------------------------------------------------------------------------

Timer::Timer(const Machine &machine, const MachineCosts &costs, TimeOptions options)
    : engine_(std::make_unique<Engine>(machine, costs, std::move(options))) {}
Timer::~Timer() = default;

uint32_t Timer::addArray(int64_t bytes) {
  return engine_->second.add(bytes, engine_->options.warm);
}

bool Timer::run(const Kernel &kernel, std::span<const GlobalArray> pointers,
                std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks) {
  return engine_->run(kernel, pointers, arrays, scalars, blocks);
}

int64_t Timer::groupsFor(const Kernel &kernel) const { return engine_->groupsFor(kernel); }
const Timeline &Timer::timeline() const { return engine_->timeline; }
Timeline Timer::take() { return std::move(engine_->timeline); }

} // namespace ptl::rt::sim
