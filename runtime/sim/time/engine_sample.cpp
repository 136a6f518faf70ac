// Windows of rounds that stand for others.
#include "runtime/sim/time/engine_sample.h"

#include <algorithm>
#include <utility>

namespace ptl::rt::sim {

void noteDone(PipeClock &state, uint32_t site, const SiteTotal &total) {
  if (!state.loops.empty())
    state.done.push_back(
        {site, total, state.bytes, state.missed, state.brought, state.others, state.array});
}

static void passMark(CoreClock &clock, Pipe pipe, Cycles passed, bool isLate) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  const SampleAction &mark = clock.core->head(pipe)->mark;
  // The mark counts when the pipe has come to it.
  passed = std::max(passed, state.free);
  clock.core->passMark(pipe, {passed, isLate});
  if (mark.kind == SampleAction::Kind::End) {
    state.loops.pop_back();
    // When the outermost loop has ended, nothing can refer to its rounds any more.
    if (state.loops.empty())
      state.done.clear();
  } else {
    if (mark.isFirst)
      state.loops.emplace_back();
    state.loops.back().push_back({passed, state.done.size()});
  }
  clock.core->endHead(pipe);
}

/// Marks the numbers of transfers of rounds that are not simulated.
static constexpr uint32_t kOfRounds = uint32_t(1) << 30;

bool isOfRounds(uint32_t id) { return id & kOfRounds; }

/// The rounds that others stand for move their bytes up to `end`, or longer where the transfers of all
/// cores want more than there is.
static void moveOfRounds(Engine &e, CoreClock &clock, Pipe pipe, Cycles end, int64_t bytes,
                         int64_t missed) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  const LaunchClock &launch = *clock.group->launch;
  uint32_t id = clock.number * static_cast<uint32_t>(kNumPipes) + static_cast<uint32_t>(pipe);
  double weight = launch.weightNow(clock.group->group->block());
  auto move = [&](SharedRate &rate, int64_t all) {
    if (all <= 0 || end <= e.now)
      return;
    auto each = static_cast<double>(all);
    rate.join(e.now, id | kOfRounds, each, each / (end - e.now), weight, launch.number);
    ++state.standing;
  };
  const SharedMemoryCost &memory = e.model.costs().memory;
  if (memory.l2Rate > 0)
    move(e.l2, bytes);
  if (memory.memoryRate > 0)
    move(e.memory, missed);
}

/// Whether no other launch moves anything. How long rounds take beside those of the same launch was
/// seen in their window.
static bool isAlone(const Engine &e, const LaunchClock &launch) {
  return e.moving.empty() && std::all_of(e.groups.begin(), e.groups.end(), [&](const auto &each) {
           return each.second->launch == &launch;
         });
}

void joinCopies(Engine &e, CoreClock &clock, double more) {
  if (more <= 0)
    return;
  uint32_t first = clock.number * static_cast<uint32_t>(kNumPipes);
  for (SharedRate *rate : {&e.l2, &e.memory})
    for (uint32_t pipe = 0; pipe < kNumPipes; ++pipe)
      for (uint32_t id : {first + pipe, (first + pipe) | kOfRounds})
        rate->raise(e.now, id, more);
}

bool waitsForRounds(const Engine &e, CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  state.isHeld = state.standing > 0 && !isAlone(e, *clock.group->launch);
  return state.isHeld;
}

void leaveRounds(Engine &e, uint32_t id, Cycles time) {
  id &= ~kOfRounds;
  CoreClock *clock = e.cores[id / kNumPipes];
  if (!clock)
    return;
  PipeClock &state = clock->pipes[id % kNumPipes];
  if (--state.standing > 0)
    return;
  if (!std::exchange(state.isHeld, false))
    return;
  Cycles later = std::max(0.0, time - state.free);
  state.allOthers += later;
  state.worked += later;
  // The record of the rounds ends when they have been moved.
  if (state.last != kNoRecord && time > state.free) {
    Record &record = e.timeline.records[state.last];
    record.stall += time - state.free;
    record.end = time;
  }
  state.free = std::max(state.free, time);
  state.settled = std::max(state.settled, state.free);
  Event event{state.free, 0, EventKind::Wake};
  event.core = clock->number;
  e.push(event);
}

/// Likewise, how much the transfers of other launches delayed the last window of a block. The pipes of all its cores work
/// together, so the first of them that stands for rounds decides.
static Cycles delayOfWindow(CoreClock &clock, Pipe pipe, const SampleAction &mark) {
  size_t number = clock.pipes[static_cast<size_t>(pipe)].loops.back().size();
  auto [place, isNew] = clock.delays.try_emplace({mark.run, number}, 0);
  if (!isNew)
    return place->second;
  Cycles others = 0, own = 0, took = 0;
  for (const std::unique_ptr<CoreClock> &core : clock.group->cores)
    for (const PipeClock &state : core->pipes) {
      const PipeClock::Window window = state.lastWindow(mark.window);
      others = std::max(others, window.others);
      own = std::max(own, window.worked - window.others);
      took = std::max(took, window.took);
    }
  return place->second = std::max(0.0, std::min(others, took - own));
}

/// What a window takes without other launches, of what it takes by its pace and took now.
static Cycles aloneOf(CoreClock &clock, Pipe pipe, const SampleAction &mark, Cycles window,
                      Cycles took) {
  Cycles delay = delayOfWindow(clock, pipe, mark);
  return delay > 0 ? std::max(window, took) - delay : window;
}

PipeClock::Window PipeClock::lastWindow(int64_t window) const {
  if (loops.empty() || static_cast<int64_t>(loops.back().size()) < window)
    return {};
  const Round &begin = loops.back()[loops.back().size() - static_cast<size_t>(window)];
  Window result;
  result.took = free - begin.time;
  for (size_t i = begin.first; i < done.size(); ++i) {
    result.others += done[i].others;
    result.worked += done[i].total.busy;
  }
  return result;
}

static void standFor(Engine &e, CoreClock &clock, Pipe pipe, const SampleAction &mark, Cycles at,
                     Cycles window) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  LaunchClock &launch = *clock.group->launch;
  const std::vector<PipeClock::Round> &rounds = state.loops.back();
  const PipeClock::Round begin = rounds[rounds.size() - static_cast<size_t>(mark.window)];
  size_t last = state.done.size();
  // Without work in the window there is nothing to repeat.
  if (begin.first == last || window <= 0)
    return;
  auto times = static_cast<double>(mark.factor);
  int64_t bytes = 0, missed = 0, brought = 0;
  // The work of the window is added as often as it stands for others, so that totals are those of
  // all rounds.
  for (size_t i = begin.first; i < last; ++i) {
    PipeClock::Done more = state.done[i];
    more.total.count *= static_cast<uint64_t>(mark.factor);
    more.total.busy *= times;
    more.total.stall *= times;
    more.bytes *= mark.factor;
    more.missed =
        launch.firstMisses(more.array, more.missed * mark.factor, clock.group->group->block());
    // Writes do not miss but are brought, too.
    more.brought *= more.array >= 0 && more.missed == 0 ? 0 : mark.factor;
    more.others *= times;
    state.allOthers += more.others;
    state.worked += more.total.busy;
    SiteTotal &total = launch.totalOf(more.site);
    total.count += more.total.count;
    total.busy += more.total.busy;
    total.stall += more.total.stall;
    bytes += more.bytes;
    missed += more.missed;
    brought += more.brought;
    // The repeated work belongs to the round too, for windows of outer loops.
    state.done.push_back(more);
  }
  launch.bytes += bytes;
  launch.missed += missed;
  launch.brought += brought;
  clock.group->bytes += bytes;
  clock.group->missed += missed;
  // Traffic of rounds that did not run has not filled the cache, so the cache ages by it.
  e.second.forget(brought);
  Record record;
  record.window = window;
  record.ready = record.start = at;
  // The record spans the time of all rounds that it stands for.
  record.end = at + times * window;
  record.site = e.siteOf(clock, *clock.core->head(pipe)->step);
  record.before = state.last;
  record.lane = static_cast<uint16_t>(clock.firstLane + static_cast<size_t>(pipe));
  state.last = e.addRecord(clock, record);
  state.free = record.end;
  state.settled = std::max(state.settled + times * window, state.free);
  state.filled = false;
  if (!e.options.whatIf.shared && !isAlone(e, launch))
    moveOfRounds(e, clock, pipe, record.end, bytes, missed);
}

/// Handles rounds whose represented rounds take as long as they did themselves. The pipes of a core
/// wait for each other, and all take as long as the slowest, so that none of them gets ahead of
/// where it would have been.
static bool stand(Engine &e, CoreClock &clock, Pipe pipe) {
  const Issued &head = *clock.core->head(pipe);
  const SampleAction mark = head.mark;
  uint32_t pipes = clock.core->markedPipes(*head.step);
  auto [place, isNew] = clock.standing.try_emplace(mark.run);
  CoreClock::Standing &all = place->second;
  if (isNew)
    // The pipes that are still to come to the mark.
    all.open = pipes;
  auto number = static_cast<size_t>(pipe);
  PipeClock &state = clock.pipes[number];
  const std::vector<PipeClock::Round> &rounds = state.loops.back();
  const PipeClock::Round &begin = rounds[rounds.size() - static_cast<size_t>(mark.window)];
  if (begin.first < state.done.size()) // else it only follows the scalar unit
    all.window = std::max(all.window, e.now - begin.time);
  all.at[number] = e.now;
  all.isLate[number] = e.now > head.time;
  all.open &= ~(1u << number);
  // The pipe stands still until all others are there.
  clock.notBefore[number] = never;
  if (all.open)
    return true;
  const CoreClock::Standing done = all;
  clock.standing.erase(place);
  // All go at the pace of the slowest, but not slower than what was found before.
  Cycles window = mark.cycles > 0 ? std::min(done.window, mark.cycles) : done.window;
  window = aloneOf(clock, pipe, mark, window, done.window);
  for (size_t i = 0; i < kNumPipes; ++i) {
    if (!(pipes >> i & 1))
      continue;
    clock.notBefore[i] = 0;
    standFor(e, clock, static_cast<Pipe>(i), mark, done.at[i], window);
    passMark(clock, static_cast<Pipe>(i), done.at[i], done.isLate[i]);
  }
  return true;
}

bool takeMark(Engine &e, CoreClock &clock, Pipe pipe) {
  const Issued &head = *clock.core->head(pipe);
  const SampleAction &mark = head.mark;
  // Without a known pace the pipes have to wait for each other.
  if (mark.factor > 0 && (mark.cycles <= 0 || mark.isMost))
    return stand(e, clock, pipe);
  bool isLate = e.now > head.time;
  if (mark.factor > 0)
    standFor(e, clock, pipe, mark, e.now, aloneOf(clock, pipe, mark, mark.cycles, 0));
  passMark(clock, pipe, e.now, isLate);
  return true;
}

void takeScalarMarks(Engine &e, CoreClock &clock) {
  for (const SampleAction &mark : clock.core->takeMarks()) {
    if (mark.kind == SampleAction::Kind::End) {
      clock.scalarLoops.pop_back();
      continue;
    }
    if (mark.isFirst)
      clock.scalarLoops.emplace_back();
    std::vector<Cycles> &rounds = clock.scalarLoops.back();
    if (mark.factor > 0) {
      // The scalar unit only adds its own work; waiting is what pipes impose on it.
      Cycles work = clock.scalarBusy - rounds[rounds.size() - static_cast<size_t>(mark.window)];
      clock.scalar += static_cast<double>(mark.factor) * work;
      clock.scalarBusy += static_cast<double>(mark.factor) * work;
    }
    rounds.push_back(clock.scalarBusy);
  }
}

} // namespace ptl::rt::sim
