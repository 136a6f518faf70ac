// Blocks of tasks on core groups.
#include "runtime/sim/time/engine_block.h"
#include "runtime/sim/time/engine_dispatch.h"
#include "runtime/sim/time/engine_repeat.h"
#include "runtime/sim/time/engine_sample.h"

#include <algorithm>
#include <utility>

namespace ptl::rt::sim {

static double signalsOf(const Step &step, const Kernel &kernel) {
  // One signal frees several slots.
  if (step.kind == StepKind::Free)
    return 1 /
           static_cast<double>(freedAtOnce(kernel.queues[static_cast<size_t>(step.queue)].slots));
  return step.kind == StepKind::SignalCores || step.kind == StepKind::Push ? 1 : 0;
}

void addSites(Engine &e, const Kernel &kernel) {
  for (bool cube : {true, false}) {
    const std::optional<Function> &function = cube ? kernel.cube : kernel.vector;
    auto [place, fresh] =
        e.firstSite.insert({{&kernel, cube}, static_cast<uint32_t>(e.timeline.sites.size())});
    // A kernel that is launched again keeps its sites.
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
      e.timeline.sites.push_back(std::move(site));
    }
  }
  e.timeline.totals.resize(e.timeline.sites.size());
}

int64_t LaunchClock::firstMisses(int32_t array, int64_t bytes, int64_t block) {
  if (array < 0 || toMiss.empty())
    return bytes;
  double &left = toMiss[static_cast<size_t>(array)];
  double weight = weightOf(block), all = static_cast<double>(bytes) * weight;
  double first = std::clamp(left, 0.0, all);
  left -= first;
  return static_cast<int64_t>(first / weight);
}

void chooseGroups(Engine &e, LaunchClock &launch) {
  const TaskRequest &request = launch.request;
  int64_t groups = e.groupsFor(*request.kernel);
  // Running some blocks for all of them pays off only if there are more blocks than may run, and it
  // is right only if all blocks are on the chip at the same time.
  // Beside other launches a few groups that stand for many want the bandwidth at one time and leave it unused at another.
  bool isAlone = e.moving.empty() && e.groups.empty();
  int64_t most = e.options.mostGroups * (isAlone ? 1 : 2);
  if (most && request.blocks > most && request.blocks <= groups)
    launch.sharing.emplace(*request.kernel, e.chip, request.pointers, request.scalars,
                           request.blocks, most, e.model, e.second.empty());
  // Without a complete glance the blocks cannot be compared.
  launch.working = launch.sharing ? launch.sharing->numWorking() : 0;
  if (launch.sharing && !launch.sharing->isKnown())
    launch.sharing.reset();
  // Arrays that fill a good part of the cache may push out of it what later iterations load.
  int64_t bytes = 0;
  for (const GlobalArray &array : request.pointers)
    bytes += array.bytes;
  launch.options.agesCache =
      launch.sharing && (2 * bytes > e.second.bytes() || launch.sharing->isSomewhere());
  if (e.options.sample && 2 * bytes <= e.second.bytes())
    for (const GlobalArray &array : request.pointers)
      launch.toMiss.push_back(static_cast<double>(array.bytes));
  if (launch.sharing)
    e.timeline.launches[launch.number].standing =
        static_cast<int64_t>(launch.sharing->chosen().size());
}

/// A block has its cores, and one that began before represents it from now on.
static void comeBehind(Engine &e, LaunchClock &launch, uint32_t span, int64_t runs) {
  launch.behind[runs].push_back(span);
  for (auto &[other, group] : e.groups)
    if (group->launch == &launch && group->group->block() == runs)
      for (const std::unique_ptr<CoreClock> &core : group->cores)
        joinCopies(e, *core, 1);
}

/// A block that began so long after the one that represents it, which has ended, does the rest of its work.
static void doRest(Engine &e, uint32_t span, const BlockTime &like, Cycles behind) {
  // At the same time both end at the same time.
  constexpr double kSameTime = 0.01;
  double part = like.took > 0 ? std::min(1.0, behind / like.took) : 0;
  if (part < kSameTime)
    return releaseBlock(e, span, std::max(e.now, e.timeline.blocks[span].start + like.took),
                        like.others);
  moveFor(e, span, part * like.alone(), part * static_cast<double>(like.bytes),
          part * static_cast<double>(like.missed), like.alone());
}

bool skipRepresented(Engine &e, LaunchClock &launch, uint32_t span) {
  BlockSpan &block = e.timeline.blocks[span];
  // A task that is like an earlier one takes the times of that one.
  if (launch.turn.like) {
    repeatBlock(e, launch, span);
    return true;
  }
  if (!launch.sharing)
    return false;
  const std::vector<int64_t> &chosen = launch.sharing->chosen();
  // A block is represented by the nearest chosen one before it.
  auto after = std::upper_bound(chosen.begin(), chosen.end(), block.block);
  bool isFirst = after == chosen.begin();
  bool works = launch.sharing->working().count(block.block);
  if (works)
    launch.isTogether = ++launch.present == launch.sharing->numWorking() && e.now == launch.firstAt;
  if (!isFirst && *std::prev(after) == block.block)
    return false;
  block.isRepresented = true;
  block.works = works && !isFirst;
  // A block without points of the grid only finds out that it has none.
  if (!block.works) {
    releaseBlock(e, span, e.now + 2 * e.model.costs().control.issue);
    return true;
  }
  int64_t runs = *std::prev(after);
  // If its representative has not ended yet, the block waits for it.
  if (auto took = launch.took.find(runs); took != launch.took.end())
    doRest(e, span, took->second, took->second.took);
  else
    comeBehind(e, launch, span, runs);
  return true;
}

static void makeCore(Engine &e, GroupClock &clock, Core &core) {
  auto made = std::make_unique<CoreClock>();
  made->core = &core;
  made->group = &clock;
  made->number = static_cast<uint32_t>(e.cores.size());
  const std::vector<uint32_t> &cores = e.timeline.blocks[clock.span].cores;
  bool withCube = clock.launch->request.kernel->cube.has_value();
  // The cube core's lane comes first, then those of the vector cores.
  size_t place = core.isCube() ? 0 : static_cast<size_t>(core.subBlock()) + withCube;
  made->firstLane = cores[std::min(place, cores.size() - 1)] * static_cast<uint32_t>(kNumPipes);
  made->firstSite = e.firstSite[{clock.launch->request.kernel, core.isCube()}];
  std::fill_n(&made->flagRecord[0][0][0], kNumPipes * kNumPipes * 16, kNoRecord);
  e.cores.push_back(made.get());
  clock.cores.push_back(std::move(made));
}

/// The number of core groups that send signals at the same time as this one in a round of its
/// outermost loop.
static double groupsInTurn(const Engine &e, const LaunchClock &launch, uint32_t span,
                           int64_t round) {
  if (launch.sharing)
    return launch.sharing->groupsInTurn(e.timeline.blocks[span].block, round);
  const TaskRequest &request = launch.request;
  int64_t groups = std::min(request.blocks, e.groupsFor(*request.kernel));
  // A group without points of the grid has nothing to signal.
  return static_cast<double>(launch.working ? std::min(groups, launch.working) : groups);
}

/// The number of core groups of the launch that signal before this one when all of them begin.
static double groupsBefore(const Engine &e, const LaunchClock &launch, uint32_t span) {
  int64_t block = e.timeline.blocks[span].block;
  if (!launch.sharing)
    return static_cast<double>(block % e.groupsFor(*launch.request.kernel));
  const std::set<int64_t> &working = launch.sharing->working();
  return static_cast<double>(std::distance(working.begin(), working.lower_bound(block)));
}

/// Sends a signal from a core to the others of its group.
static void send(Engine &e, GroupClock &clock, QueueSignal signal, int32_t queue, int32_t core) {
  if (signal == QueueSignal::Popped) // nothing waits for it
    return clock.group->apply(signal, queue, core);
  int64_t times = 1;
  // One signal frees several slots.
  if (signal == QueueSignal::Freed) {
    int64_t &freed = clock.freed[{queue, core}];
    const Kernel &kernel = *clock.launch->request.kernel;
    if (++freed < freedAtOnce(kernel.queues[static_cast<size_t>(queue)].slots))
      return;
    times = std::exchange(freed, 0);
  }
  ++clock.signals;
  // In a sample each group has a hub of its own, which stands for its share of the real one.
  if (int64_t round = clock.cores[static_cast<size_t>(core)]->core->outermostRound();
      e.options.sample && round > clock.round) {
    clock.round = round;
    clock.hub.shareWith(e.hub.each(), groupsInTurn(e, *clock.launch, clock.span, round));
  }
  Cycles queued = (e.options.sample ? clock.hub : e.hub).pass(e.now);
  Cycles later = e.options.whatIf.crossCore ? 0 : e.model.costs().control.crossCore;
  Event event{e.now + queued + later, 0, EventKind::Signal};
  event.signal = signal;
  event.core = clock.cores[static_cast<size_t>(core)]->number;
  event.queue = queue;
  event.record = e.actor;
  event.queued = queued;
  event.times = times;
  e.push(event);
}

void beginBlock(Engine &e, LaunchClock &launch, uint32_t span) {
  auto clock = std::make_unique<GroupClock>();
  const Kernel &kernel = *launch.request.kernel;
  clock->launch = &launch;
  clock->span = span;
  clock->group = std::make_unique<Group>(*launch.state, e.timeline.blocks[span].block);
  clock->tiles.resize(kernel.queues.size());
  clock->slots.resize(kernel.queues.size());
  clock->events.resize(kMaxCrossFlags);
  if (e.options.sample) {
    clock->hub.shareWith(e.hub.each(), groupsInTurn(e, launch, span, 0));
    clock->hub.comeBehind(e.hub.each(), groupsBefore(e, launch, span));
  }
  GroupClock *self = clock.get();
  clock->group->onSignal = [&e, self](QueueSignal signal, int32_t queue, int32_t core) {
    send(e, *self, signal, queue, core);
  };
  for (const std::unique_ptr<Core> &core : clock->group->cores())
    makeCore(e, *clock, *core);
  Cycles time = e.timeline.blocks[span].begun;
  for (const std::unique_ptr<CoreClock> &core : clock->cores) {
    core->scalar = time;
    // All pipes are free when the block begins.
    for (PipeClock &pipe : core->pipes)
      pipe.free = pipe.settled = time;
    Event event{time, 0, EventKind::Begin};
    event.core = core->number;
    e.push(event);
  }
  e.groups[span] = std::move(clock);
}

/// How much later a block ended because other launches moved bytes. What its pipes do takes as long without them.
static Cycles delayByOthers(const GroupClock &clock, Cycles took) {
  Cycles others = 0, own = 0;
  for (const std::unique_ptr<CoreClock> &core : clock.cores)
    for (const PipeClock &pipe : core->pipes) {
      others = std::max(others, pipe.allOthers);
      own = std::max(own, pipe.worked - pipe.allOthers);
    }
  return std::max(0.0, std::min(others, took - own));
}

bool endGroup(Engine &e, GroupClock &clock) {
  // As long as signals are in flight a core may still be woken.
  if (clock.signals || !clock.group->isFinished())
    return true;
  // Freed slots that were too few for a signal are accounted for at the end.
  for (auto [who, times] : clock.freed)
    for (; times > 0; --times)
      clock.group->apply(QueueSignal::Freed, who.first, who.second);
  if (!clock.group->finish())
    return e.fail(clock);
  LaunchClock &launch = *clock.launch;
  LaunchSpan &whole = e.timeline.launches[launch.number];
  BlockSpan &block = e.timeline.blocks[clock.span];
  Cycles end = e.now, last = -1;
  for (const std::unique_ptr<CoreClock> &core : clock.cores) {
    if (const std::map<size_t, double> *rounds = core->core->rounds())
      for (const auto &[step, cycles] : *rounds) {
        Cycles &known = e.timeline.paces[core->firstSite + static_cast<uint32_t>(step)];
        known = std::max(known, cycles);
      }
    whole.skipped = std::max(whole.skipped, core->core->skippedRounds());
    // The block ends with its last result, not with its last operation.
    end = std::max(end, core->scalar);
    for (const PipeClock &pipe : core->pipes) {
      end = std::max({end, pipe.free, pipe.settled});
      block.works |= pipe.works;
      // The critical path is followed backwards from the last operation.
      if (pipe.last != kNoRecord && std::max(pipe.free, pipe.settled) > last) {
        last = std::max(pipe.free, pipe.settled);
        block.last = pipe.last;
      }
    }
  }
  Cycles others = delayByOthers(clock, end - block.start);
  // Events that are still queued for these cores find a null pointer.
  for (const std::unique_ptr<CoreClock> &core : clock.cores)
    e.cores[core->number] = nullptr;
  uint32_t span = clock.span;
  int64_t number = block.block, bytes = clock.bytes, missed = clock.missed;
  Cycles begun = block.start;
  e.groups.erase(span); // destroys the clock
  const BlockTime time{end - begun, others, bytes, missed};
  launch.took[number] = time;
  for (uint32_t other : launch.behind[number])
    doRest(e, other, time, e.timeline.blocks[other].start - begun);
  releaseBlock(e, span, end, time.others);
  return true;
}

} // namespace ptl::rt::sim
