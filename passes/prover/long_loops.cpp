// Loops of many turns: what is run of them, and what one event stands for.
#include "passes/prover/runner.h"

#include <algorithm>
#include <bit>

namespace ptl::prove {

static constexpr int64_t kTurnsOfParts = 256;  ///< that are all run of a loop that fills a tile
static constexpr int64_t kFewestRotations = 8; ///< of a loop with queues that are left out at once
static constexpr int64_t kTurnsOfElements =
    4; ///< of scalar code alone, where each is run by itself

/// A loop while it runs.
struct LongLoop {
  const Body &body;
  int64_t turns;
  int64_t rotation; ///< after so many turns all is as it was, where `mayLeaveOut`
  bool mayLeaveOut, hasQueue;
  bool isDone = false; ///< turns have been left out
  /// At the last turns that were a multiple of the rotation: the events so far, and what the loop
  /// carried.
  std::vector<size_t> events = {};
  std::vector<std::vector<Scalar>> carried = {};

  /// The first turn at which turns can be left out: what is different in the first ones is over.
  int64_t first() const { return (hasQueue ? 3 : 2) * rotation; }
  /// The number of remaining iterations that can be left out. With queues all cores have to leave
  /// out the same number, even if one of them has some iterations more than the others. Therefore
  /// it is a power of two of rotations, applied several times if necessary, and at most `most`
  /// rotations.
  int64_t rest(int64_t turn, int64_t most) const {
    // One rotation and one turn at the end are always executed.
    int64_t rotations = std::max<int64_t>(0, (turns - turn - rotation - 1) / rotation);
    if (hasQueue)
      rotations = std::min(rotations, most);
    if (hasQueue)
      // A power of two is the same for cores whose numbers of turns differ a little (see the
      // README).
      rotations = rotations < kFewestRotations
                      ? 0
                      : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rotations)));
    return rotations * rotation;
  }
};

/// The events of one rotation again, on chip and between cores. Where arrays are reached moves on.
static bool repeats(const Core &core, size_t first, size_t middle) {
  const std::vector<Event> &events = core.events;
  size_t count = middle - first;
  // The rotations must have the same number of events, or nothing can be compared.
  if (events.size() != middle + count)
    return false;
  auto isSame = [](const Access &a, const Access &b) {
    return a.reads == b.reads && a.writes == b.writes && a.scratch == b.scratch &&
           a.atomic == b.atomic && a.global == b.global && a.held == b.held &&
           (a.global || (a.place == b.place && a.bytes == b.bytes && a.base == b.base));
  };
  for (size_t i = first; i < middle; ++i) {
    const Event &one = events[i], &two = events[i + count];
    if (one.kind != two.kind || one.op != two.op || one.pipe != two.pipe || one.flag != two.flag ||
        one.accesses != two.accesses)
      return false;
    auto own = core.accesses.begin() + one.access, its = core.accesses.begin() + two.access;
    if (!std::equal(own, own + one.accesses, its, isSame))
      return false;
  }
  return true;
}

// Counts the events between cores in the iterations that are left out: `times` those of the last
// rotation, whose first event is given.
static void countLeftOut(Execution &execution, size_t first, int64_t times) {
  auto core = static_cast<uint32_t>(execution.cores.size() - 1);
  const std::vector<Event> &events = execution.cores.back().events;
  auto own = static_cast<ptrdiff_t>(execution.leftOut.size());
  for (size_t i = first; i < events.size(); ++i) {
    const Event &event = events[i];
    bool isQueue =
        event.kind == Event::Push || event.kind == Event::Pop || event.kind == Event::Free;
    if (!isQueue && event.kind != Event::Signal && event.kind != Event::Await)
      continue;
    auto known = std::find_if(
        execution.leftOut.begin() + own, execution.leftOut.end(),
        [&](const LeftOut &each) { return each.kind == event.kind && each.flag == event.flag; });
    if (known != execution.leftOut.end())
      known->count += times;
    else
      // The number of the first event that is left out tells where in the sequence the gap lies.
      execution.leftOut.push_back({core, event.kind, event.flag, event.number, times});
  }
}

// Leaves out a multiple of the rotation, and lets carried values continue as in the last rotation.
// Without queues two rotations are enough to see how they continue; with queues the last two have
// to be equal.
void Runner::leaveOut(LongLoop &loop, int64_t &turn, std::vector<Scalar> &carried) {
  // Turns can only be left out where the rotation begins anew.
  if (!loop.mayLeaveOut || loop.isDone || turn % loop.rotation)
    return;
  std::vector<size_t> &events = loop.events;
  events.push_back(core_->events.size());
  loop.carried.push_back(carried);
  int64_t count = loop.rest(turn, mostLeftOut_ - core_->leftOut);
  // Three marks are two whole rotations.
  if (turn < loop.first() || events.size() < 3 || count <= 0)
    return;
  size_t last = events.size() - 1;
  // The other side of a queue has to leave out the same events, which is only known if this
  // rotation repeats the one before.
  if (loop.hasQueue && !repeats(*core_, events[last - 2], events[last - 1]))
    return;
  int64_t times = count / loop.rotation;
  if (loop.hasQueue) {
    countLeftOut(execution_, events[last - 1], times);
    core_->leftOut += times;
  }
  for (size_t i = 0; i < carried.size(); ++i)
    // Carried values, such as counters and addresses, are taken to change by the same amount in
    // each rotation.
    carried[i].value += (carried[i].value - loop.carried[last - 1][i].value) * times;
  // A loop with queues may leave out a second, smaller power of two later on.
  loop.isDone = !loop.hasQueue;
  loop.events.clear();
  loop.carried.clear();
  // The next write of a part stands for the turns in the gap (`bridge`).
  bridging_ |= loop.body.fillsParts;
  turn += count;
}

// A long loop runs its first and last turns. Where turns fill a tile part by part, the first write
// after those that were left out stands for theirs; where scalar code alone does so, one event
// stands for what turns in the middle do to a buffer.
void Runner::runFor(const Step &step) {
  int64_t lower = at(step.args[0]).value, upper = at(step.args[1]).value,
          by = at(step.args[2]).value;
  // Data that says how often it runs does not say where a turn is.
  bool data = at(step.args[0]).data || at(step.args[2]).data;
  // The loop counts like `scf.for`: the upper bound is exclusive and rounded up to whole steps.
  int64_t turns = by > 0 && upper > lower ? (upper - lower - 1) / by + 1 : 0;
  const Body &body = function_->bodies[step.body];
  std::vector<Scalar> carried;
  for (size_t i = 3; i < step.args.size(); ++i)
    carried.push_back(at(step.args[i]));
  // A loop that fills a tile in few turns runs them all, since each turn writes other bytes.
  bool fills = body.fillsParts && turns <= kTurnsOfParts,
       mayQueue = kernel_.rotatesTogether && mostLeftOut_ > 0;
  LongLoop loop{body, turns, body.hasQueue ? kernel_.rotation : body.rotation,
                !fills && (!body.hasQueue || mayQueue), body.hasQueue};
  // Leaving out has to save some turns to be worth it.
  loop.mayLeaveOut &= turns > loop.first() + loop.rotation + 2;
  // Only the outermost nest of elements gathers; inner loops add to its events.
  bool gathers = body.ofElements && !gathers_ && !loop.mayLeaveOut && turns > kTurnsOfElements;
  for (int64_t turn = 0; turn < turns && goesOn(); ++turn) {
    // `leaveOut` may advance the turn, which marks this turn as the bridge over the gap.
    int64_t next = turn;
    bool around = bridging_; // this loop may stand in such a turn of another one
    leaveOut(loop, turn, carried);
    bool isBridge = turn != next;
    // The first two turns and the last one run by themselves; those between are gathered.
    if (gathers && (turn == 2 || turn == turns - 1)) {
      emitGathered();
      gathers_ = turn == 2;
    }
    at(body.parameters[0]) = {lower + turn * by, data};
    assign(body.parameters, 1, carried, 0);
    yielded_.clear();
    runBody(step.body);
    carried = yielded_;
    if (isBridge)
      bridging_ = around;
  }
  if (gathers)
    gathers_ = false;
  assign(step.results, 0, carried, 0);
}

// ---- elements -----------------------------------------------------------------------------------

static uint64_t placeOf(const Access &access, const ByteRange &range) {
  return static_cast<uint64_t>(access.base + range.begin) * 256 + access.place;
}

// Scalar code on elements runs in order and nothing comes between its turns, so what it reads and
// writes of a buffer has one order against all that is before and behind. What it reads of its own
// is in order by itself. So all that is read comes first, and then all that is written. Where that
// is not the same, what was gathered is emitted, and the step by itself.
bool Runner::gather(const Step &step) {
  bool isGlobal = std::any_of(step.accesses.begin(), step.accesses.end(),
                              [](const AccessSpec &spec) { return spec.memory; });
  if (isGlobal) // of its own pipe, and on other memory
    return false;
  size_t before = gathered_.size();
  for (const AccessSpec &spec : step.accesses)
    if (!gather(step, spec)) {
      // The step is emitted as a whole, so those of its accesses that are gathered are dropped.
      gathered_.resize(std::min(before, gathered_.size()));
      emitGathered();
      return false;
    }
  return true;
}

bool Runner::gather(const Step &step, const AccessSpec &spec) {
  Access access{spec.reads, spec.writes, spec.scratch, spec.atomic};
  touchTile(spec, access);
  // These depend on the order of reads and writes among the turns, so one event cannot stand for
  // them. An element somewhere in a tile is read as often as it is written, in any order.
  const RunningTile &tile = tileAt(spec.value);
  bool isElement = access.partly && !tile.amongRows && !tile.amongCols;
  if (access.scratch || (!isElement && (access.partly || (access.reads && access.writes))))
    return false;
  bool isOwn = false;
  for (const ByteRange &range : ranges_[access.bytes]) {
    auto written = gatheredWrites_.find(placeOf(access, range));
    // The same bytes were written through another buffer, so this access has to be ordered after
    // that.
    if (written != gatheredWrites_.end() && written->second != access.buffer)
      return false;
    isOwn |= written != gatheredWrites_.end();
  }
  if (access.writes && !access.partly)
    for (const ByteRange &range : ranges_[access.bytes])
      gatheredWrites_[placeOf(access, range)] = access.buffer;
  // A read of what the nest itself has written is ordered by the scalar unit.
  if (!access.writes && isOwn)
    return true;
  uint32_t scalars = 0;
  for (uint32_t operand : step.args)
    scalars = scalars * 0x9E3779B1u + static_cast<uint32_t>(at(operand).value);
  auto known = std::find_if(gathered_.begin(), gathered_.end(), [&](const Gathered &each) {
    return each.spec == &spec && each.access.buffer == access.buffer &&
           each.access.base == access.base && each.access.held == access.held;
  });
  if (known == gathered_.end())
    known = gathered_.insert(known, {&step, &spec, access, 0, {}});
  known->scalars = known->scalars * 0x9E3779B1u + scalars;
  known->parts.push_back(access.bytes);
  return true;
}

void Runner::emitGathered() {
  std::vector<Gathered> all = std::move(gathered_);
  gathered_.clear();
  gatheredWrites_.clear();
  // All reads come before all writes, as if the nest were one instruction.
  std::stable_partition(all.begin(), all.end(), [](const Gathered &g) { return g.access.reads; });
  for (Gathered &each : all) {
    Event &event = emit(Event::Operation, *each.step, each.step->sub);
    event.accesses = 1;
    event.scalars = each.scalars;
    each.access.bytes = ranges_.together(std::move(each.parts));
    note(each.access.bytes * 64 + static_cast<uint64_t>(each.access.base));
    core_->accesses.push_back(each.access);
  }
}

} // namespace ptl::prove
