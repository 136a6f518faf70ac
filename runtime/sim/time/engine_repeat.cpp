// Launches that are assumed to run like an earlier one.
#include "runtime/sim/time/engine_repeat.h"
#include "runtime/sim/time/engine_dispatch.h"

namespace ptl::rt::sim {

static bool mayRepeat(const Engine &e, const LaunchClock &launch) {
  return e.options.sample && !e.options.values && launch.request.site && launch.request.blocks > 0;
}

void takeTurn(Engine &e, LaunchClock &launch) {
  if (!mayRepeat(e, launch))
    return;
  launch.turn = e.repeats[launch.request.site].next();
  auto blocks = static_cast<size_t>(launch.request.blocks);
  if (launch.turn.like && launch.turn.like->blocks.size() != blocks)
    launch.turn.like = nullptr;
  if (launch.turn.like)
    return;
  launch.ran.resize(blocks);
  launch.used.resize(e.timeline.lanes.size());
}

/// Marks the numbers of the transfers of repeated blocks, which have no simulated pipe.
static constexpr uint32_t kOfRepeated = uint32_t(1) << 31;

bool isOfRepeated(uint32_t id) { return id & kOfRepeated; }

void repeatBlock(Engine &e, LaunchClock &launch, uint32_t span) {
  BlockSpan &block = e.timeline.blocks[span];
  const LaunchResult &like = *launch.turn.like;
  const LaunchResult::Block &other = like.blocks[static_cast<size_t>(block.block)];
  block.isRepresented = true;
  block.works = other.works;
  uint32_t transfers = 0;
  // Its bytes are spread evenly over its launch's time, so it has them when it ends, unless all
  // transfers together want more than the bandwidth.
  auto move = [&](SharedRate &rate, int64_t bytes) {
    double even = static_cast<double>(bytes) / like.worked;
    if (bytes <= 0 || other.took <= 0)
      return;
    rate.join(e.now, span | kOfRepeated, even * other.took, even);
    ++transfers;
  };
  const SharedMemoryCost &memory = e.model.costs().memory;
  if (other.works && !e.options.whatIf.shared) {
    if (memory.l2Rate > 0)
      move(e.l2, like.bytes);
    if (memory.memoryRate > 0)
      move(e.memory, like.missed);
  }
  if (transfers)
    e.moving[span] = transfers;
  else
    releaseBlock(e, span, e.now + other.took);
}

void leaveRepeated(Engine &e, uint32_t id, Cycles time) {
  uint32_t span = id & ~kOfRepeated;
  auto found = e.moving.find(span);
  if (--found->second > 0)
    return;
  e.moving.erase(found);
  releaseBlock(e, span, time);
}

void noteUse(Engine &e, const CoreClock &clock, Pipe pipe) {
  uint32_t lane = clock.firstLane + static_cast<uint32_t>(pipe);
  e.timeline.used[lane] = true;
  if (std::vector<bool> &own = clock.group->launch->used; !own.empty())
    own[lane] = true;
}

static void addUp(Engine &e, uint32_t firstSite, const LaunchResult &result) {
  for (size_t i = 0; i < result.totals.size(); ++i) {
    SiteTotal &total = e.timeline.totals[firstSite + i];
    total.count += result.totals[i].count;
    total.busy += result.totals[i].busy;
    total.stall += result.totals[i].stall;
  }
  e.timeline.bytes += result.bytes;
  e.timeline.missed += result.missed;
  e.timeline.instructions += result.instructions;
}

/// The sums over the blocks that ran, scaled to all the blocks that they represent.
static LaunchResult resultOf(Engine &e, LaunchClock &launch) {
  const LaunchSpan &span = e.timeline.launches[launch.number];
  // Of many equal blocks only some run; each of these stands for several.
  double weight = launch.sharing ? launch.sharing->workWeight() : 1;
  auto scaled = [&](auto value) {
    return static_cast<decltype(value)>(static_cast<double>(value) * weight);
  };
  LaunchResult result;
  result.task = launch.number;
  result.blocks = std::move(launch.ran);
  result.worked = result.sum();
  result.totals = std::move(launch.totals);
  result.used = std::move(launch.used);
  for (SiteTotal &total : result.totals)
    total = {scaled(total.count), scaled(total.busy), scaled(total.stall)};
  result.touched = std::move(launch.touched);
  result.bytes = scaled(launch.bytes);
  result.missed = scaled(launch.missed);
  result.brought = launch.brought;
  result.instructions = launch.state->result.instructions;
  result.standing = span.standing;
  result.skipped = span.skipped;
  return result;
}

/// Counts the result of the launch that this one repeats once more.
static void countAgain(Engine &e, LaunchClock &launch) {
  const LaunchResult &like = *launch.turn.like;
  LaunchSpan &span = e.timeline.launches[launch.number];
  span.like = like.task;
  span.standing = like.standing;
  span.skipped = like.skipped;
  addUp(e, launch.firstSite, like);
  for (size_t lane = 0; lane < like.used.size(); ++lane)
    if (like.used[lane])
      e.timeline.used[lane] = true;
  e.second.forget(like.brought);
  for (size_t i = 0; i < like.touched.size(); ++i)
    e.second.setTouched(launch.request.arrays[i], like.touchedAt(i, launch.turn.number),
                        launch.filled);
}

void countLaunch(Engine &e, LaunchClock &launch) {
  if (launch.turn.like)
    return countAgain(e, launch);
  LaunchResult result = resultOf(e, launch);
  addUp(e, launch.firstSite, result);
  if (launch.sharing) {
    for (size_t i = 0; i < result.touched.size(); ++i)
      e.second.setTouched(launch.request.arrays[i], result.touched[i], launch.filled);
  }
  if (!result.blocks.empty())
    e.repeats[launch.request.site].note(launch.turn, std::move(result));
}

} // namespace ptl::rt::sim
