// Windows of rounds that stand for others like them: what was done in them counts several times,
// and their pipes are taken for as long as all of it takes.
#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

void Timer::Engine::noteDone(PipeClock &state, uint32_t site, const SiteTotal &total) {
  if (!state.windows.empty())
    state.done.push_back({site, total, state.bytes, state.missed});
}

/// A pipe has come to the beginning or the end of a window.
bool Timer::Engine::takeMark(CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  const Issued &head = *clock.core->head(pipe);
  if (head.ordinal == SampleMark::begin) {
    state.windows.push_back({now_, state.done.size()});
  } else if (!state.windows.empty()) { // else the pipe had done nothing when it began
    PipeClock::Window window = state.windows.back();
    state.windows.pop_back();
    if (head.ordinal > 0 && state.done.size() > window.first)
      standFor(clock, pipe, window, head.ordinal);
    if (state.windows.empty())
      state.done.clear();
  }
  return clock.core->endHead(pipe) || fail(*clock.group);
}

void Timer::Engine::standFor(CoreClock &clock, Pipe pipe, const PipeClock::Window &window,
                             int64_t factor) {
  PipeClock &state = clock.pipes[static_cast<size_t>(pipe)];
  LaunchClock &launch = *clock.group->launch;
  auto times = static_cast<double>(factor);
  size_t last = state.done.size();
  int64_t missed = 0;
  for (size_t i = window.first; i < last; ++i) {
    PipeClock::Done more = state.done[i];
    more.total.count *= static_cast<uint64_t>(factor);
    more.total.busy *= times;
    more.total.stall *= times;
    more.bytes *= factor;
    more.missed *= factor;
    SiteTotal &total = launch.totalOf(more.site);
    total.count += more.total.count;
    total.busy += more.total.busy;
    total.stall += more.total.stall;
    timeline.busy[clock.firstLane + static_cast<size_t>(pipe)] += more.total.busy;
    launch.bytes += more.bytes;
    missed += more.missed;
    if (!state.windows.empty())
      state.done.push_back(more);
  }
  launch.missed += missed;
  second.forget(missed);
  Record record;
  record.window = now_ - window.time;
  record.ready = record.start = now_;
  record.end = now_ + times * record.window;
  record.site = siteOf(clock, *clock.core->head(pipe)->step);
  record.before = state.last;
  record.lane = static_cast<uint16_t>(clock.firstLane + static_cast<size_t>(pipe));
  state.last = add(clock, record);
  state.free = record.end;
  state.settled = std::max(state.settled + times * record.window, state.free);
  state.filled = false;
}

/// The scalar unit has its own time, in which it is ahead of the pipes or keeps them waiting. What
/// it waited for in a window was its queues to have room, which they will have.
void Timer::Engine::takeScalarMarks(CoreClock &clock) {
  for (int64_t factor : clock.core->takeMarks())
    if (factor == SampleMark::begin) {
      clock.scalarWindows.push_back(clock.scalarBusy);
    } else {
      Cycles work = clock.scalarBusy - clock.scalarWindows.back();
      clock.scalar += static_cast<double>(factor) * work;
      clock.scalarBusy += static_cast<double>(factor) * work;
      clock.scalarWindows.pop_back();
    }
}

} // namespace ptl::rt::sim
