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
  // Its bytes are spread evenly over its launch's time.
  double part = other.works ? other.took / like.worked : 0;
  moveFor(e, span, other.took, part * static_cast<double>(like.bytes),
          part * static_cast<double>(like.missed), other.took);
}

/// What a block took beyond `whole` others took from it.
static void releaseMoved(Engine &e, uint32_t span, Cycles end, Cycles whole) {
  releaseBlock(e, span, end, std::max(0.0, end - e.timeline.blocks[span].start - whole));
}

void moveFor(Engine &e, uint32_t span, Cycles time, double bytes, double missed, Cycles whole) {
  uint32_t transfers = 0;
  auto move = [&](SharedRate &rate, double all) {
    if (all < 1 || time <= 0)
      return;
    rate.join(e.now, span | kOfRepeated, all, all / time, 1, e.timeline.blocks[span].launch);
    ++transfers;
  };
  const SharedMemoryCost &memory = e.model.costs().memory;
  if (!e.options.whatIf.shared) {
    if (memory.l2Rate > 0)
      move(e.l2, bytes);
    if (memory.memoryRate > 0)
      move(e.memory, missed);
  }
  if (transfers)
    e.moving[span] = {transfers, whole};
  else
    releaseMoved(e, span, e.now + time, whole);
}

void leaveRepeated(Engine &e, uint32_t id, Cycles time) {
  uint32_t span = id & ~kOfRepeated;
  auto found = e.moving.find(span);
  if (--found->second.transfers > 0)
    return;
  Cycles whole = found->second.whole;
  e.moving.erase(found);
  releaseMoved(e, span, time, whole);
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

static void setTouched(Engine &e, const LaunchClock &launch,
                       const std::vector<ByteRange> &touched) {
  for (size_t i = 0; i < touched.size(); ++i)
    e.second.setTouched(launch.request.arrays[i], touched[i], launch.filled);
}

void countLaunch(Engine &e, LaunchClock &launch) {
  if (launch.turn.like)
    return countAgain(e, launch);
  LaunchResult result = resultOf(e, launch);
  addUp(e, launch.firstSite, result);
  // Rounds that did not run touched more than the lines that are known.
  if (launch.sharing || result.skipped > 0)
    setTouched(e, launch, result.touched);
  if (!result.blocks.empty())
    e.repeats[launch.request.site].note(launch.turn, std::move(result));
}

} // namespace ptl::rt::sim
