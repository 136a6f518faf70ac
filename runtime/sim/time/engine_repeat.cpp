// Launches that are taken to run like an earlier one of the same place of the program: nothing of
// them is run, their blocks take the cores as long as those of the other did.
#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

bool Timer::Engine::mayRepeat(const LaunchClock &launch) const {
  return options.sample && !options.values && launch.request.site && launch.request.blocks > 0;
}

/// Where it begins: whether it is run.
void Timer::Engine::takeTurn(LaunchClock &launch) {
  if (!mayRepeat(launch))
    return;
  launch.turn = repeats_[launch.request.site].next();
  auto blocks = static_cast<size_t>(launch.request.blocks);
  if (launch.turn.like && launch.turn.like->blocks.size() != blocks)
    launch.turn.like = nullptr;
  if (launch.turn.like)
    return;
  launch.ran.resize(blocks);
  launch.used.resize(timeline.lanes.size());
}

void Timer::Engine::noteUse(const CoreClock &clock, Pipe pipe) {
  uint32_t lane = clock.firstLane + static_cast<uint32_t>(pipe);
  timeline.used[lane] = true;
  if (std::vector<bool> &own = clock.group->launch->used; !own.empty())
    own[lane] = true;
}

void Timer::Engine::addUp(uint32_t firstSite, const LaunchResult &result) {
  for (size_t i = 0; i < result.totals.size(); ++i) {
    SiteTotal &total = timeline.totals[firstSite + i];
    total.count += result.totals[i].count;
    total.busy += result.totals[i].busy;
    total.stall += result.totals[i].stall;
  }
  timeline.bytes += result.bytes;
  timeline.missed += result.missed;
  timeline.instructions += result.instructions;
}

/// What the blocks of a task did counts; for those that they stand for, too.
LaunchResult Timer::Engine::resultOf(LaunchClock &launch) {
  const LaunchSpan &span = timeline.launches[launch.number];
  double weight = launch.sharing ? launch.sharing->workWeight() : 1;
  auto scaled = [&](auto value) {
    return static_cast<decltype(value)>(static_cast<double>(value) * weight);
  };
  LaunchResult result;
  result.task = launch.number;
  result.blocks = std::move(launch.ran);
  result.totals = std::move(launch.totals);
  result.used = std::move(launch.used);
  for (SiteTotal &total : result.totals)
    total = {scaled(total.count), scaled(total.busy), scaled(total.stall)};
  result.bytes = scaled(launch.bytes);
  result.missed = scaled(launch.missed);
  result.instructions = launch.state->result.instructions;
  result.standing = span.standing;
  result.skipped = span.skipped;
  return result;
}

/// A task has ended.
void Timer::Engine::count(LaunchClock &launch) {
  if (launch.turn.like)
    return repeat(launch);
  LaunchResult result = resultOf(launch);
  addUp(launch.firstSite, result);
  if (launch.sharing) {
    second.forget(result.missed - launch.missed);
    for (uint32_t array : launch.request.arrays)
      second.setTouched(array);
  }
  if (!result.blocks.empty())
    repeats_[launch.request.site].note(launch.turn, std::move(result));
}

/// It has ended without having been run: what the other came to counts once more.
void Timer::Engine::repeat(LaunchClock &launch) {
  const LaunchResult &like = *launch.turn.like;
  LaunchSpan &span = timeline.launches[launch.number];
  span.like = like.task;
  span.standing = like.standing;
  span.skipped = like.skipped;
  addUp(launch.firstSite, like);
  for (size_t lane = 0; lane < like.used.size(); ++lane)
    if (like.used[lane])
      timeline.used[lane] = true;
  second.forget(like.missed);
}

} // namespace ptl::rt::sim
