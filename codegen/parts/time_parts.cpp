#include "codegen/parts/parts_timer.h"

#include "codegen/parts/disk_times.h"
#include "codegen/parts/known_value.h"
#include "frontend/base/elem_type.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace ptl::parts {

using movement::StepList;
using movement::TimedMove;
using Kind = TaskOrigin::Kind;

/// False, with a reason, if the source names a part that the machine does not have.
bool PartsTimer::hasItsPart(ValueId id) {
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = placed_.values[id].placement[level];
        at.isSingle() && at.part >= grid_.count(level)) {
      why_ = "there is no " + placed_.levels[level].name + " " + std::to_string(at.part) + " of " +
             std::to_string(grid_.count(level));
      return false;
    }
  return true;
}

// ---- Loops ---------------------------------------------------------------------------------------

/// Adds the tasks of values, and of the loops and choices among them.
bool PartsTimer::walk(ValueId begin, ValueId end, std::optional<ValueId> region) {
  for (ValueId id = begin; id < end;) {
    if (const PlacedLoop *loop = placed_.loopAt(id)) {
      if (!repeat(*loop))
        return false;
      id = loop->end;
      continue;
    }
    if (const PlacedChoice *choice = placed_.choiceAt(id)) {
      if (!choose(*choice))
        return false;
      id = choice->end;
      continue;
    }
    // A loop or a choice adds all that lies within it and is skipped here; what is left are the values of this region itself.
    if (!hasItsPart(id))
      return false;
    countBytes(id);
    bool isElsewhere = settleHome(id);
    if (placed_.values[id].kind == PlacedKind::Move && !isElsewhere && !move(id))
      return false;
    if (placed_.values[id].kind == PlacedKind::Page)
      readPage(id);
    ++id;
  }
  // What a movement sends was computed with the movement (`ready`). The other stretches of the region are left, and nothing waits for
  // them.
  for (size_t stretch = 0; stretch < stretches_.size(); ++stretch)
    if (stretches_[stretch].region == region)
      compute(stretch);
  return true;
}

/// Forgets the tasks of a region that an earlier round made, so that it is walked again.
void PartsTimer::forget(ValueId begin, ValueId end, ValueId region) {
  for (size_t stretch = 0; stretch < stretches_.size(); ++stretch)
    if (stretches_[stretch].region == region)
      isComputed_[stretch] = false;
  for (ValueId id = begin; id < end; ++id)
    ready_[id].assign(grid_.count(), {});
}

/// Adds the tasks of the arm that is taken. False if data decides which one it is.
bool PartsTimer::choose(const PlacedChoice &choice) {
  std::optional<bool> holds = knownTruth(question_, variables_, choice.holds);
  if (!holds) {
    why_ = "both arms of the `if` that decides " +
           (choice.what.empty() ? "a value" : "`" + choice.what + "`") +
           " are possible, since its condition is no matter of sizes";
    return false;
  }
  auto [begin, end] = choice.arm(*holds);
  // In a loop the other arm may have been taken before; this round must not wait for its tasks.
  forget(begin, end, begin - 1);
  if (!walk(begin, end, begin - 1))
    return false;
  for (ValueId id = choice.chosen; id < choice.end; ++id)
    ready_[id] = ready(*placed_.values[id].operands[*holds ? 0 : 1]);
  return true;
}

/// How many of the rounds there are up to the one that leaves the loop; nullopt, with a reason, if
/// data decides it.
std::optional<int64_t> PartsTimer::untilLeft(const PlacedLoop &loop, int64_t rounds) {
  if (!loop.leaves)
    return rounds;
  LoopNumbers numbers = variables_;
  for (int64_t round = 0; round < rounds; ++round) {
    numbers[loop.variable] = number(loop.lo) + round * number(loop.step);
    std::optional<bool> isLeft = knownTruth(question_, numbers, loop.carried[*loop.leaves].next);
    if (!isLeft) {
      why_ = "data decide when the loop over `" + loop.stmt->head.var->name + "` is left";
      return std::nullopt;
    }
    if (*isLeft)
      return round + 1;
  }
  return rounds;
}

/// The number of rounds of a loop; nullopt, with a reason, if the run would stop there or data
/// decides it.
std::optional<int64_t> PartsTimer::roundsOf(const PlacedLoop &loop) {
  // More rounds than these are not worth their time here.
  constexpr int64_t mostKnown = 4096;
  if (!loop.stmt) {
    std::optional<int64_t> rounds = question_.rounds;
    if (!loop.leaves && !hasChoices(placed_, loop))
      if (auto known = knownRounds(question_, variables_, loop, mostKnown))
        rounds = known;
    if (!rounds)
      why_ = "a `while` that changes `" + loop.carried[0].local->name +
             "` goes round as often as data say; `--rounds N` gives a number";
    return rounds;
  }
  int64_t lo = number(loop.lo), hi = number(loop.hi), step = number(loop.step);
  if (step >= 1)
    return untilLeft(loop, lo < hi ? (hi - lo - 1) / step + 1 : 0);
  why_ = "the loop over `" + loop.stmt->head.var->name + "` counts by " + std::to_string(step) +
         ", not forwards";
  return std::nullopt;
}

/// The messages and tasks of one round whose number is known. Both arms of each choice count.
std::optional<int64_t> PartsTimer::effortOf(const PlacedLoop &loop, const LoopNumbers &around) {
  auto effort = static_cast<int64_t>(grid_.count());
  for (ValueId id = loop.body(); id < loop.end;) {
    if (const PlacedLoop *inner = placed_.loopAt(id)) {
      int64_t rounds = question_.rounds.value_or(0);
      LoopNumbers within = around;
      if (inner->stmt) {
        int64_t lo = numberOf(question_, around, inner->lo);
        int64_t between = numberOf(question_, around, inner->hi) - lo;
        rounds = between / std::max<int64_t>(numberOf(question_, around, inner->step), 1);
        within[inner->variable] = lo;
      }
      std::optional<int64_t> of = effortOf(*inner, within);
      if (!of)
        return std::nullopt;
      // The factor is bounded before the product is taken, since a number of rounds comes from the
      // program and the product could overflow.
      effort += *of * std::clamp<int64_t>(rounds, 0, mostInLoops_ / *of + 1);
      id = inner->end;
      continue;
    }
    if (placed_.values[id].kind == PlacedKind::Move) {
      const MoveSteps *steps = steps_.of(id, around, why_);
      if (!steps)
        return std::nullopt;
      effort += static_cast<int64_t>(steps->messages) + grid_.count();
    }
    ++id;
  }
  return effort;
}

/// The number of rounds up to which all rounds of a loop are simulated.
std::optional<int64_t> PartsTimer::mostRounds(const PlacedLoop &loop, int64_t rounds) {
  if (auto known = mostRounds_.find(&loop); known != mostRounds_.end())
    return known->second;
  // The middle round stands for all: the extents may depend on the number of the round.
  LoopNumbers middle = variables_;
  if (loop.stmt)
    middle[loop.variable] = number(loop.lo) + rounds / 2 * number(loop.step);
  std::optional<int64_t> effort = effortOf(loop, middle);
  if (!effort)
    return std::nullopt;
  int64_t most = mostInLoops_ / *effort;
  // Loops inside loops get less, because they are simulated in each round of the outer ones.
  for (size_t i = 0; i < depth_; ++i)
    most /= 8;
  mostRounds_[&loop] = most;
  return most;
}

bool PartsTimer::repeat(const PlacedLoop &loop) {
  std::optional<int64_t> rounds = roundsOf(loop);
  if (!rounds)
    return false;
  auto [known, isNew] = loopTimes_.emplace(&loop, time_.loops.size());
  size_t number = known->second;
  if (isNew) {
    time_.loops.push_back({loop.stmt ? loop.stmt->span : loop.condition->span});
    roundsOfLoops_.push_back(0);
  }
  // What the loop uses from outside is made before it, not as a task of its first round.
  for (ValueId id = loop.first; id < loop.end; ++id)
    for (std::optional<ValueId> operand : placed_.values[id].operands)
      if (operand && *operand < loop.first)
        ready(*operand);
  for (ValueId id = loop.first; id < loop.body(); ++id)
    ready_[id] = ready(*placed_.values[id].operands[0]);
  std::optional<int64_t> most = *rounds ? mostRounds(loop, *rounds) : 0;
  if (!most)
    return false;
  goesRound_[numberOfLoop(loop)] = goesRound_[numberOfLoop(loop)] || *rounds > 1;
  // The rounds of a `while` have no number, so nothing depends on it.
  int64_t lo = loop.stmt ? this->number(loop.lo) : 0;
  int64_t step = loop.stmt ? this->number(loop.step) : 0;
  bool areAlike = !loop.stmt || hasLikeRounds(placed_, loop);
  int64_t turn = hasTasks(placed_, loop) ? grid_.count() : 1;
  auto plan = planRounds(*rounds, areAlike, *most, turn);
  // Rounds that are left out are like those before them, which a choice by their number may refute.
  bool chooses = loop.stmt && choosesByRound(placed_, loop);
  if (loop.stmt && (chooses || shiftsByRound(placed_, loop)) &&
      std::ranges::any_of(plan, &PlannedRound::leftOut)) {
    why_ = (chooses ? "an `if` in the loop over `" : "a `shift` in the loop over `") +
           loop.stmt->head.var->name +
           (chooses ? "` takes one arm or the other" : "` goes one way or another") +
           " by the number of the round, and " + std::to_string(*rounds) +
           " rounds are too many to simulate each";
    return false;
  }
  if (loop.every)
    saved_ = {&loop, *rounds, tasks_.tasks().size(), 0};
  tasks_.beginLoop(number);
  ++depth_;
  double stands = stands_;
  for (const PlannedRound &round : plan) {
    // Rounds that are alike have one text each for what they compute on a part.
    if (loop.stmt)
      variables_[loop.variable] = lo + step * (areAlike ? round.number % turn : round.number);
    stands_ = stands * round.stands;
    if (!goRound(loop))
      return false;
    roundsOfLoops_[number] += stands_;
    ++time_.loops[number].simulated;
    if (round.leftOut > 0)
      tasks_.leaveOut(round.leftOut, round.pace, round.turn);
  }
  stands_ = stands;
  --depth_;
  tasks_.endLoop();
  if (loop.every)
    saved_.end = tasks_.tasks().size();
  return true;
}

bool PartsTimer::goRound(const PlacedLoop &loop) {
  settle(loop.first, loop.end);
  forget(loop.body(), loop.end, loop.first);
  tasks_.beginRound();
  if (!walk(loop.body(), loop.end, loop.first))
    return false;
  // All next values are taken before a carried one is set, since one may be another's next value.
  std::vector<std::vector<std::vector<uint32_t>>> next;
  for (const PlacedCarried &each : loop.carried)
    next.push_back(ready(each.next));
  tasks_.endRound();
  for (size_t i = 0; i < next.size(); ++i)
    ready_[loop.first + i] = std::move(next[i]);
  return true;
}

// ---- The answer ----------------------------------------------------------------------------------

/// Counts the block of part 0, which is the longest: block lengths never increase with the part.
void PartsTimer::countBytes(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  if (isPieceOf(value) || value.kind == PlacedKind::Reshape || !isUsed_[id])
    return;
  int64_t bytes = value.shape.empty() ? 0 : elemInfo(value.elem).storageBytes;
  for (int64_t extent : extents(id, 0))
    bytes *= extent;
  bytes_[id] = std::max(bytes_[id], bytes);
}

/// The time of checkpoints. They are no tasks; what they add follows from the time of a round.
void PartsTimer::findSaving() {
  double seconds = 0, begin = 0;
  if (saved_.begin < saved_.end) {
    auto tasks = std::span(time_.timeline.tasks).subspan(saved_.begin, saved_.end - saved_.begin);
    using Stretch = movement::FabricTimeline::Stretch;
    begin = std::ranges::min(tasks, {}, &Stretch::begin).begin;
    seconds = std::ranges::max(tasks, {}, &Stretch::end).end - begin;
  }
  if (saved_.loop)
    time_.save = saveTime(question_, *saved_.loop, saved_.rounds, begin, seconds);
  if (time_.save)
    time_.seconds += time_.save->adds;
}

/// The timeline of the whole program, and again without each movement to see what it adds.
void PartsTimer::finish() {
  movement::TimelineOptions options{question_.keepsCarried};
  time_.timeline = movement::timelineOn(question_.fabric, moves_, tasks_.tasks(), options);
  time_.seconds = time_.timeline.end;
  time_.messages = std::llround(messages_);
  std::map<uint32_t, double> computing;
  std::vector<bool> isBegun(time_.moves.size());
  for (size_t task = 0; task < tasks_.tasks().size(); ++task) {
    const movement::FabricTimeline::Stretch &when = time_.timeline.tasks[task];
    const TaskOrigin &origin = tasks_.origins()[task];
    if (tasks_.tasks()[task].isComputing()) {
      double &sum = computing[origin.part];
      sum += tasks_.tasks()[task].seconds;
      time_.computing = std::max(time_.computing, sum);
    }
    if (origin.kind != Kind::Move)
      continue;
    MoveTime &move = time_.moves[origin.number];
    move.begin = isBegun[origin.number] ? std::min(move.begin, when.begin) : when.begin;
    move.end = std::max(move.end, when.end);
    isBegun[origin.number] = true;
  }
  for (ValueId id = 0; id < placed_.values.size(); ++id) {
    // In a loop with several rounds a value of one round and of the next may live at the same time.
    bool isTwice = false;
    for (size_t i = 0; i < placed_.loops.size(); ++i)
      isTwice |= goesRound_[i] && id >= placed_.loops[i].body() && id < placed_.loops[i].end;
    time_.bytes += bytes_[id] * (isTwice ? 2 : 1);
  }
  for (size_t i = 0; i < time_.moves.size(); ++i) {
    time_.moves[i].times = std::llround(timesOfMoves_[i]);
    time_.moves[i].adds = time_.seconds - secondsWithout(i);
  }
  findSaving();
  for (size_t i = 0; i < time_.stretches.size(); ++i)
    time_.stretches[i].times = std::llround(timesOfStretches_[i]);
  for (size_t i = 0; i < time_.loops.size(); ++i)
    time_.loops[i].rounds = std::llround(roundsOfLoops_[i]);
  time_.tasks = tasks_.tasks();
  time_.origins = tasks_.origins();
}

double PartsTimer::secondsWithout(size_t move) const {
  std::vector<TimedMove> moves = moves_;
  std::vector<StepList> nothing;
  // The moves point into this vector, so it must not be reallocated.
  nothing.reserve(moves.size());
  for (size_t i = 0; i < moves.size(); ++i)
    if (moveOf_[i] == move) {
      StepList &empty = nothing.emplace_back();
      empty.ranks.resize(moves[i].chips.size());
      moves[i].list = &empty;
      moves[i].start = 0;
    }
  return movement::timelineOn(question_.fabric, moves, tasks_.tasks()).end;
}

std::optional<PartsTime> timeOfParts(const TimeQuestion &question, std::string &why,
                                     int64_t mostInLoops) {
  return PartsTimer(question, mostInLoops, why).run();
}

} // namespace ptl::parts
