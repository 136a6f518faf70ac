// Windows of rounds that stand for others like them: what was done in them counts several times,
// and their pipes are taken for as long as all of it takes.
#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

void Timer::Engine::noteDone(PipeClock &state, uint32_t site, const SiteTotal &total) {
  if (!state.loops.empty())
    state.done.push_back({site, total, state.bytes, state.missed});
}

/// A pipe has come to the beginning of a round, or the end of a loop.
bool Timer::Engine::takeMark(CoreClock &clock, Pipe pipe) {
  const Issued &head = *clock.core->head(pipe);
  const SampleAction &mark = head.mark;
  if (mark.factor > 0 && (mark.cycles <= 0 || mark.isMost))
    return stand(clock, pipe);
  bool isLate = now_ > head.time;
  if (mark.factor > 0)
    standFor(clock, pipe, mark, now_, mark.cycles);
  return passMark(clock, pipe, now_, isLate);
}

bool Timer::Engine::passMark(CoreClock &clock, Pipe pipe, Cycles passed, bool isLate) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  const SampleAction &mark = clock.core->head(pipe)->mark;
  passed = std::max(passed, state.free);
  clock.core->passMark(pipe, {passed, isLate});
  if (mark.kind == SampleAction::Kind::End) {
    state.loops.pop_back();
    if (state.loops.empty())
      state.done.clear();
  } else {
    if (mark.isFirst)
      state.loops.emplace_back();
    state.loops.back().push_back({passed, state.done.size()});
  }
  return clock.core->endHead(pipe) || fail(*clock.group);
}

/// Where rounds stand for as long as they took themselves, the pipes of a core wait for each other,
/// and all take what the slowest took: none of them is ahead of where it would have been.
bool Timer::Engine::stand(CoreClock &clock, Pipe pipe) {
  const Issued &head = *clock.core->head(pipe);
  const SampleAction mark = head.mark;
  uint32_t pipes = clock.core->markedPipes(*head.step);
  auto [place, isNew] = clock.standing.try_emplace(mark.run);
  CoreClock::Standing &all = place->second;
  if (isNew)
    all.open = pipes;
  auto number = static_cast<size_t>(pipe);
  PipeClock &state = clock.pipes[number];
  const std::vector<PipeClock::Round> &rounds = state.loops.back();
  const PipeClock::Round &begin = rounds[rounds.size() - static_cast<size_t>(mark.window)];
  if (begin.first < state.done.size()) // else it only follows the scalar unit
    all.window = std::max(all.window, now_ - begin.time);
  all.at[number] = now_;
  all.isLate[number] = now_ > head.time;
  all.open &= ~(1u << number);
  state.busy = true;
  if (all.open)
    return true;
  const CoreClock::Standing done = all;
  clock.standing.erase(place);
  Cycles window = mark.cycles > 0 ? std::min(done.window, mark.cycles) : done.window;
  for (size_t i = 0; i < numPipes; ++i) {
    if (!(pipes >> i & 1))
      continue;
    clock.pipes[i].busy = false;
    standFor(clock, static_cast<Pipe>(i), mark, done.at[i], window);
    if (!passMark(clock, static_cast<Pipe>(i), done.at[i], done.isLate[i]))
      return false;
  }
  return true;
}

void Timer::Engine::standFor(CoreClock &clock, Pipe pipe, const SampleAction &mark, Cycles at,
                             Cycles window) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  LaunchClock &launch = *clock.group->launch;
  const std::vector<PipeClock::Round> &rounds = state.loops.back();
  const PipeClock::Round begin = rounds[rounds.size() - static_cast<size_t>(mark.window)];
  size_t last = state.done.size();
  if (begin.first == last || window <= 0)
    return;
  auto times = static_cast<double>(mark.factor);
  int64_t missed = 0;
  for (size_t i = begin.first; i < last; ++i) {
    PipeClock::Done more = state.done[i];
    more.total.count *= static_cast<uint64_t>(mark.factor);
    more.total.busy *= times;
    more.total.stall *= times;
    more.bytes *= mark.factor;
    more.missed *= mark.factor;
    SiteTotal &total = launch.totalOf(more.site);
    total.count += more.total.count;
    total.busy += more.total.busy;
    total.stall += more.total.stall;
    launch.bytes += more.bytes;
    missed += more.missed;
    state.done.push_back(more);
  }
  launch.missed += missed;
  second.forget(missed);
  Record record;
  record.window = window;
  record.ready = record.start = at;
  record.end = at + times * window;
  record.site = siteOf(clock, *clock.core->head(pipe)->step);
  record.before = state.last;
  record.lane = static_cast<uint16_t>(clock.firstLane + static_cast<size_t>(pipe));
  state.last = add(clock, record);
  state.free = record.end;
  state.settled = std::max(state.settled + times * window, state.free);
  state.filled = false;
}

/// The scalar unit has its own time, in which it is ahead of the pipes or keeps them waiting. What
/// it waited for in a window was its queues to have room, which they will have.
void Timer::Engine::takeScalarMarks(CoreClock &clock) {
  for (const SampleAction &mark : clock.core->takeMarks()) {
    if (mark.kind == SampleAction::Kind::End) {
      clock.scalarLoops.pop_back();
      continue;
    }
    if (mark.isFirst)
      clock.scalarLoops.emplace_back();
    std::vector<Cycles> &rounds = clock.scalarLoops.back();
    if (mark.factor > 0) {
      Cycles work = clock.scalarBusy - rounds[rounds.size() - static_cast<size_t>(mark.window)];
      clock.scalar += static_cast<double>(mark.factor) * work;
      clock.scalarBusy += static_cast<double>(mark.factor) * work;
    }
    rounds.push_back(clock.scalarBusy);
  }
}

} // namespace ptl::rt::sim
