#include "runtime/sim/sampling.h"

#include "machines/machine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace ptl::rt::sim {

/// Longer periods than this are not looked for.
static constexpr int64_t kLongestPeriod = 24;
/// Rounds of an outermost loop that a glance takes where they differ.
static constexpr int64_t kGlanced = 16;
/// Windows that a loop with rounds of different lengths is measured by.
static constexpr int64_t kSegments = 4;
/// The same for a loop during which the cache ages.
static constexpr int64_t kAging = 8;
/// Rounds of a loop, about, that are looked at for where its rounds begin to go other ways.
static constexpr int64_t kProbes = 16;
/// Rounds of a loop with others in it that run before a window is measured.
static constexpr int64_t kWarming = 2;
/// Rounds of an innermost loop that stand for others where its pace has been seen before.
static constexpr int64_t kMeasured = 4;
/// Rounds of a loop of the scalar unit alone that have to show a period of its work; the longest
/// period is half of them.
static constexpr int64_t kShownScalar = 8;
/// Rounds that have to show a pace, of innermost loops and others.
static constexpr int64_t kShownInner = 6, kShownOuter = 3;

/// The more operations a loop has taken, the less equal its rounds have to be.
static double toleranceAfter(uint64_t operations) {
  return operations < 2000 ? 0.01 : operations < 5000 ? 0.03 : operations < 8000 ? 0.1 : 1;
}

int64_t LoopShapes::addTurns(const Function &function) {
  std::map<int32_t, int64_t> constants;
  int64_t most = 1;
  for (const Step &step : function.steps) {
    // Constants are known by their register, so that a modulus can be read off the code.
    if (step.kind == StepKind::Constant)
      constants[step.result.index] = step.constant.i;
    int64_t turn = step.kind == StepKind::GetSlot ? step.slotCount : 1;
    // A remainder by a small constant is how code picks the slots of a ring.
    if (step.kind == StepKind::Compute && (step.op == ArithOp::RemSI || step.op == ArithOp::RemUI))
      if (auto known = constants.find(step.operands[1].index);
          known != constants.end() && known->second > 1 && known->second <= 16)
        turn = known->second;
    if (period_ <= kLongestPeriod)
      // The period is the least common multiple of all rotations, since only then everything
      // repeats.
      period_ = std::lcm(period_, std::max<int64_t>(turn, 1));
    most = std::max(most, turn);
  }
  return most;
}

static bool usesQueue(const Step &step) {
  return step.kind == StepKind::Push || step.kind == StepKind::Pop ||
         step.kind == StepKind::SignalCores || step.kind == StepKind::WaitCores;
}

static bool hasLoopWithQueues(const Function &function) {
  const std::vector<Step> &steps = function.steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step &step) {
    return step.kind == StepKind::JumpUnlessLess &&
           std::any_of(&step, steps.data() + step.target, usesQueue);
  });
}

LoopShapes::LoopShapes(const Function &function, const Kernel &kernel)
    : shapes_(function.steps.size()) {
  int64_t most = 1;
  halves_ = 0;
  for (const std::optional<Function> *half : {&kernel.cube, &kernel.vector})
    if (*half) {
      most = std::max(most, addTurns(**half));
      halves_ += hasLoopWithQueues(**half);
    }
  for (const Queue &queue : kernel.queues) {
    most = std::max(most, queue.slots);
    if (period_ <= kLongestPeriod)
      period_ = std::lcm(period_, freedAtOnce(queue.slots));
  }
  // Without a period no rounds stand for others.
  if (period_ > kLongestPeriod)
    period_ = 0;
  // Rounds settle after all slots have been used once and two more.
  settling_ = std::max<int64_t>(4, most + 2);
  for (size_t head = 0; head < function.steps.size(); ++head) {
    const Step &step = function.steps[head];
    if (step.kind != StepKind::JumpUnlessLess)
      continue;
    shapes_[head].isLoop = true;
    // The steps of the loop lie between its head and the target of its jump.
    for (size_t i = head + 1; i < static_cast<size_t>(step.target); ++i) {
      Pipe pipe = function.steps[i].pipe;
      shapes_[head].hasInner |= function.steps[i].kind == StepKind::JumpUnlessLess;
      shapes_[head].hasQueues |= usesQueue(function.steps[i]);
      bool isQueued = pipe != Pipe::S && static_cast<size_t>(pipe) < kNumPipes;
      shapes_[head].pipes |= isQueued ? 1u << static_cast<uint32_t>(pipe) : 0;
    }
    if (LoopControl control(function, head); control.varies())
      shapes_[head].control = std::move(control);
  }
}

void LoopSampler::enter(State &state, const LoopVisit &at) {
  size_t step = at.step;
  int64_t trips = at.left;
  if (!active_.empty())
    active_.back()->note(static_cast<uint64_t>(trips));
  // Only loops that no other loop contains are counted.
  outermost_ += active_.empty() ? trips : 0;
  state = {};
  state.run = std::make_shared<LoopRun>();
  state.run->step = step;
  state.run->pipes = shapes_.of(step).pipes;
  state.effort = at.effort;
  state.number = runs_++;
  state.trips = trips;
  // The innermost loop that runs is the last one.
  active_.push_back(&state);
  if (mode_ == SampleMode::Glance)
    return;
  // Inner loops with queues are kept whole if the caller wants it, and the outermost one is still
  // sampled.
  bool isKept = keepsInnerQueues_ && active_.size() > 1;
  state.isDone = isKept && shapes_.of(step).hasQueues;
  if (shapes_.of(step).hasQueues && !isKept) {
    state.shared = &group_[queueLoops_++];
    const std::optional<LoopControl> &control = shapes_.of(step).control;
    state.shared->members.push_back({state.run, control ? &*control : nullptr, at.scalars});
    state.shared->halves |= isCube_ ? 2 : 1;
  }
  // A loop may behave differently when it is entered again, so this is measured, but ever more
  // rarely.
  // At the visits 1, 2, 4, 8 and so on.
  state.isMeasured = std::has_single_bit(++times_[step]);
  if (trips > 0 && state.run->pipes && shapes_.period())
    passing_[state.number] = {state.run, state.shared,     agesAlong(state) ? trips : 0,
                              true,      state.isMeasured, state.run->pipes};
}

SampleAction LoopSampler::leave(State &state) {
  SampleAction action{SampleAction::Kind::End, state.number};
  state.run->isOver = true;
  state.run->left = 0;
  // Without marks there is no end to tell.
  if (!isMarked(state) || !state.isBegun)
    action.kind = SampleAction::Kind::None;
  state.run.reset();
  active_.pop_back();
  return action;
}

bool LoopSampler::isMarked(const State &state) const {
  if (mode_ == SampleMode::Glance)
    return false;
  if (shapes_.of(state.run->step).isScalar())
    return mode_ == SampleMode::LeaveOut;
  return state.run->pipes && shapes_.period();
}

SampleAction LoopSampler::round(const State &state) const {
  return {isMarked(state) ? SampleAction::Kind::Round : SampleAction::Kind::None, state.number,
          state.run->round == 0};
}

SampleAction LoopSampler::visit(const LoopVisit &at) {
  State &state = states_[at.step];
  int64_t left = at.left;
  if (!state.run) {
    enter(state, at);
  } else {
    ++state.run->round;
    // The loop around this one notes the loops inside this one once only, because rounds may be
    // left out here.
    if (state.run->round == 1 && active_.size() > 1)
      active_[active_.size() - 2]->note(state.inside);
    // Loops whose inner loops change their lengths have rounds that differ.
    state.varies |= state.run->round > 1 && state.inside != state.before;
    state.before = std::exchange(state.inside, 0);
  }
  state.run->left = left;
  state.run->position = at.position;
  state.run->by = at.by;
  state.isBegun |= left > 0;
  if (left <= 0)
    return leave(state);
  if (mode_ == SampleMode::Glance) {
    int64_t most = active_.size() > 1 ? 1 : state.varies ? kGlanced : 2;
    bool enough = state.run->round >= most;
    return {enough ? SampleAction::Kind::Leave : SampleAction::Kind::None};
  }
  bool isScalar = shapes_.of(at.step).isScalar();
  if (mode_ == SampleMode::Look || !(isScalar || (shapes_.period() && state.run->pipes)))
    return round(state);
  SampleAction action = act(state, at);
  action.run = state.number;
  skipped_ += action.skip;
  state.run->left -= action.skip;
  if (isScalar)
    representScalar(state, at, action);
  else if (action.skip > 0)
    passing_[state.number].isWhole = false;
  return action;
}

double LoopSampler::times() const {
  double times = 1;
  for (size_t i = 1; i < active_.size(); ++i)
    times *= static_cast<double>(std::max<int64_t>(active_[i]->trips, 1));
  return times;
}

bool LoopSampler::agesAlong(const State &state) const {
  // What the scalar unit does itself takes the same time all along.
  return measuresAllAlong_ && active_.size() == 1 && !state.shared && state.run->pipes;
}

SampleAction LoopSampler::act(State &state, const LoopVisit &at) {
  if (state.isDone)
    return round(state);
  if (agesAlong(state))
    return spread(state, at.left);
  QueueLoop *shared = state.shared;
  // A loop that varied may go on alike for long enough to skip.
  if (state.varies && !state.segments && goesOnAlike(state, at))
    state.varies = false;
  if (state.varies && !(shared && !shared->agreed.empty()))
    return spread(state, at.left);
  if (shapes_.of(at.step).isScalar())
    return skipScalar(state, at);
  return shared && shared->differs ? round(state) : skipAlike(state, at);
}

/// The runs of all cores that go through a loop together.
static std::vector<const LoopRun *> runsOf(const LoopRun &run, const QueueLoop *shared) {
  std::vector<const LoopRun *> runs{&run};
  if (shared) {
    runs.clear();
    for (const LoopMember &each : shared->members)
      runs.push_back(each.run.get());
  }
  return runs;
}

std::optional<Pace> LoopSampler::look(const LoopRun &run, const QueueLoop *shared,
                                      double tolerance) const {
  bool hasInner = shapes_.of(run.step).hasInner;
  return findPace(runsOf(run, shared), {shapes_.period(), shapes_.settling(),
                                        hasInner ? kShownOuter : kShownInner, tolerance});
}

void LoopSampler::learn(size_t step, const Pace &pace) {
  paces_[step] = pace;
  rounds_[step] = pace.cycles / static_cast<double>(pace.window);
}

/// The pace that the loop has shown by now, or has had before.
std::optional<Pace> LoopSampler::paceOf(State &state, uint64_t effort) {
  const LoopRun &run = *state.run;
  auto known = paces_.find(run.step);
  // A pace that is known is used without being measured again, unless it is time for that.
  if (known != paces_.end() && !(state.isMeasured && run.first == 0)) {
    bool hasInner = shapes_.of(run.step).hasInner;
    Pace pace = known->second;
    pace.last = -1;
    int64_t warm = std::max(pace.settled, hasInner ? kWarming : shapes_.settling());
    int64_t least = hasInner ? 1 : kMeasured;
    // The window is made a multiple of the known one, of at least the rounds that have to be shown.
    pace.window *= (least + pace.window - 1) / pace.window;
    pace.cycles *= static_cast<double>(pace.window) / static_cast<double>(known->second.window);
    return run.round >= run.first + warm + pace.window ? std::optional(pace) : std::nullopt;
  }
  int64_t last = run.lastPassed();
  if (last <= std::max(state.lookedAt, run.first))
    return std::nullopt;
  // Looking for a pace costs time, so it is done only when another round has passed all pipes.
  state.lookedAt = last;
  return look(run, state.shared, toleranceAfter(effort - state.effort));
}

bool QueueLoop::isPending() const {
  return std::any_of(members.begin(), members.end(), [&](const LoopMember &each) {
    return !each.run->isOver && each.run->agreed < agreed.size();
  });
}

/// Whether a core goes the same ways in two windows of rounds; they end before these rounds.
static bool areAlike(const LoopMember &core, int64_t window, int64_t one, int64_t other) {
  auto waysIn = [&](int64_t round) {
    const LoopRun &run = *core.run;
    return core.control->at(core.scalars, run.position + (round - run.round) * run.by);
  };
  for (int64_t i = 1; core.control && i <= window; ++i)
    if (waysIn(one - i) != waysIn(other - i))
      return false;
  return true;
}

/// The number of windows after a round, at most `most`, whose rounds take the same branches as the
/// window before it, for a core. Windows spread over the loop are compared first, then the first
/// difference between them is searched for.
static int64_t alike(const LoopMember &core, int64_t round, int64_t window, int64_t most) {
  if (!core.control || most <= 0)
    return most;
  // Each comparison costs time, so it is done on samples first.
  auto isAlike = [&](int64_t windows) { // so many windows later
    return areAlike(core, window, round, round + windows * window);
  };
  // Coarse steps find the first window that differs, and a binary search finds its begin.
  int64_t same = 0, other = most + 1, step = std::max<int64_t>(1, most / kProbes);
  while (same < most && other > most)
    (isAlike(std::min(same + step, most)) ? same : other) = std::min(same + step, most);
  while (other - same > 1)
    (isAlike((same + other) / 2) ? same : other) = (same + other) / 2;
  return same;
}

/// Whether the rounds of a loop differ only here and there, and much of it is alike from here on.
bool LoopSampler::goesOnAlike(State &state, const LoopVisit &at) const {
  const std::optional<LoopControl> &control = shapes_.of(at.step).control;
  int64_t window = inPeriods(1), most = (at.left - 1) / window - 1;
  if (!control || most <= 0)
    return false;
  const LoopMember self{state.run, &*control, at.scalars};
  return alike(self, state.run->round + window, window, most) >= std::max<int64_t>(most / 4, 4);
}

/// The last rounds represent all rounds like them, except for the end of the loop.
SampleAction LoopSampler::skipAlike(State &state, const LoopVisit &at) {
  QueueLoop *shared = state.shared;
  // The other kind of core has not entered the loop yet, and it has to take part in the decision.
  // Both kinds of core have to leave out the same rounds, or their queues would not match.
  if (shared && static_cast<int64_t>(std::popcount(shared->halves)) < shapes_.halves())
    return round(state);
  if (shared && state.run->agreed < shared->agreed.size())
    return follow(state);
  // Some core has not left out the rounds of the last decision; until then there is no new one.
  if (shared && shared->isPending())
    return round(state);
  std::optional<Pace> pace = paceOf(state, at.effort);
  return pace ? propose(state, at, *pace) : round(state);
}

/// The length of the period of the work between these moments; 0 if it shows none.
static int64_t periodOf(std::span<const ScalarWork> worked) {
  auto rounds = static_cast<int64_t>(worked.size()) - 1;
  auto workIn = [&](int64_t round) {
    return worked[static_cast<size_t>(round + 1)] - worked[static_cast<size_t>(round)];
  };
  for (int64_t period = 1; 2 * period <= rounds; ++period) {
    int64_t round = period;
    while (round < rounds && workIn(round) == workIn(round - period))
      ++round;
    if (round == rounds)
      return period;
  }
  return 0;
}

/// Rounds are compared again after twice as many, so that a loop of which no rounds are alike takes
/// little longer than without comparisons.
SampleAction LoopSampler::skipScalar(State &state, const LoopVisit &at) {
  LoopRun &run = *state.run;
  state.next = std::max(state.next, run.first + kShownScalar);
  // Only the rounds before the next comparison are noted.
  if (state.isDone || run.round + kShownScalar < state.next)
    return {};
  if (run.round < state.next)
    return round(state);
  state.next = run.first + 2 * (run.round - run.first);
  std::vector<ScalarWork> worked(state.worked.end() - kShownScalar, state.worked.end());
  worked.push_back(at.work);
  SampleAction action{SampleAction::Kind::Stand};
  action.window = periodOf(worked);
  if (action.window == 0)
    return round(state);
  const std::optional<LoopControl> &control = shapes_.of(at.step).control;
  const LoopMember self{state.run, control ? &*control : nullptr, at.scalars};
  // The last round runs, as in other loops, since what is left for it may differ.
  int64_t most = (run.left - 1) / action.window;
  action.factor = alike(self, run.round, action.window, most);
  action.skip = action.factor * action.window;
  state.isDone = action.factor == most;
  if (action.skip == 0)
    return round(state);
  // What follows takes other branches, and has to show its own period.
  run.first = run.round;
  return action;
}

/// Counts the work of skipped rounds, and notes what had been done before this round.
void LoopSampler::representScalar(State &state, const LoopVisit &at, const SampleAction &action) {
  represented_ = {};
  if (action.factor > 0) {
    const ScalarWork &before =
        state.worked[state.worked.size() - static_cast<size_t>(action.window)];
    represented_ = (at.work - before) * static_cast<uint64_t>(action.factor);
  }
  if (action.kind == SampleAction::Kind::None)
    return;
  state.worked.push_back(at.work);
  state.worked.back() += represented_;
}

SampleAction LoopSampler::follow(State &state) {
  LoopRun &run = *state.run;
  const QueueLoop::Agreement &agreed = state.shared->agreed[run.agreed];
  // The agreed round has not come yet.
  if (run.round < agreed.round)
    return round(state);
  ++run.agreed;
  run.first = run.round;
  // Otherwise the cores do not agree, and the run will show which one waits in vain.
  bool canFollow = run.round >= agreed.action.window && agreed.action.skip < run.left;
  return canFollow ? agreed.action : round(state);
}

SampleAction LoopSampler::propose(State &state, const LoopVisit &at, const Pace &pace) {
  QueueLoop *shared = state.shared;
  LoopRun &run = *state.run;
  const std::optional<LoopControl> &control = shapes_.of(at.step).control;
  const LoopMember self{state.run, control ? &*control : nullptr, at.scalars};
  std::span<const LoopMember> members{&self, 1};
  if (shared)
    members = shared->members;
  // The decision takes effect in a round that no core has begun yet.
  int64_t when = run.round, most = INT64_MAX;
  for (const LoopMember &each : members) // others have begun their round
    when = std::max(when, each.run->round + (each.run != state.run));
  for (const LoopMember &each : members) {
    int64_t left = each.run->left - (when - each.run->round) - 1;
    // The last round of the loop always runs, since it may be cut.
    most = std::min(most, each.run->isOver ? 0 : std::max<int64_t>(left, 0) / pace.window);
  }
  SampleAction action{SampleAction::Kind::Stand};
  action.window = pace.window;
  // Other rounds of the loop have another pace, and another time that is gone through it may have.
  action.cycles = run.first > 0 ? 0 : pace.cycles;
  action.isMost = !state.isMeasured;
  // The rounds that have shown the pace, and those that are left out, have to take the same
  // branches on every core.
  action.factor = most;
  for (const LoopMember &each : members) {
    int64_t ahead = (when - pace.last) / pace.window * pace.window; // of what has shown the pace
    // Rounds that have shown the pace must have taken the same ways as those that it is used for.
    bool hasShown = pace.last < 0 || areAlike(each, pace.window, pace.last, pace.last + ahead);
    int64_t windows = hasShown ? alike(each, when, pace.window, most) : 0;
    action.factor = std::min(action.factor, windows);
  }
  if (pace.last >= 0 && action.factor > 0)
    learn(at.step, pace);
  action.skip = action.factor * pace.window;
  // All that can be left out has been left out.
  state.isDone = !shared && action.factor == most;
  run.first = run.round;
  if (action.skip == 0 || !shared)
    return action.skip > 0 ? action : round(state);
  shared->agreed.push_back({when, action});
  return follow(state);
}

/// The first window has shown that rounds differ and stands for itself alone; the others stand for
/// those around them.
SampleAction LoopSampler::spread(State &state, int64_t left) {
  bool ages = agesAlong(state), hasInner = shapes_.of(state.run->step).hasInner;
  int64_t shown = hasInner ? kShownOuter : kShownInner;
  int64_t warm = inPeriods(ages && !hasInner ? shapes_.settling() : kWarming);
  int64_t window = inPeriods(ages ? shown : 1), segments = ages ? kAging : kSegments;
  int64_t now = state.run->round;
  // Until the present window ends, rounds run as they are; the first one is full of work.
  if (state.end >= 0 ? now != state.end : ages && now < warm + window)
    return round(state);
  SampleAction action{SampleAction::Kind::Stand};
  action.window = window;
  if (state.segments == 0) {
    if (state.end >= 0 || now % period()) {
      state.isDone = state.end >= 0;
      return round(state);
    }
    // Windows are spread evenly over the loop, with some rounds before each to warm up.
    state.factor = (left / segments - warm) / window - 1;
    if (state.factor < 1) {
      state.isDone = true;
      if (state.shared)
        state.shared->differs = true;
      return round(state);
    }
    // The first window stands at half a gap, so that each represents the rounds around it.
    state.gap = state.factor / 2 * window;
    state.segments = segments;
    action.skip = state.gap;
    if (state.shared)
      state.shared->differs = true;
  } else {
    action.factor = state.factor;
    action.skip = state.factor * window - state.gap + (--state.segments ? state.gap : 0);
  }
  state.end = now + warm + window;
  return action;
}

/// A loop of few rounds is over before the scalar unit knows its pace: the next time it does.
void LoopSampler::passEnd(const Passing &passing) {
  size_t step = passing.run->step;
  // Of rounds that differ the mean is taken, in which those that were left out count as well.
  if (passing.unlike > 0) {
    double longest = 0;
    for (const std::vector<LoopRun::Passage> &pipe : passing.run->passed)
      longest = std::max(longest, pipe.empty() ? 0 : pipe.back().time - pipe.front().time);
    rounds_[step] = longest / static_cast<double>(passing.unlike);
    return;
  }
  if (!passing.isWhole || !passing.isMeasured || !shapes_.period())
    return;
  if (std::optional<Pace> pace = look(*passing.run, passing.shared, toleranceAfter(2000)))
    learn(step, *pace);
  else if (!paces_.count(step))
    rounds_[step] = roundOfLastHalf(runsOf(*passing.run, passing.shared));
}

void LoopSampler::pass(const SampleAction &mark, Pipe pipe, LoopRun::Passage passage) {
  auto found = passing_.find(mark.run);
  if (found == passing_.end())
    return;
  Passing &passing = found->second;
  passing.run->passed[static_cast<size_t>(pipe)].push_back(passage);
  if (mark.kind != SampleAction::Kind::End)
    return;
  // The end counts only when every pipe has passed it.
  passing.open &= ~(1u << static_cast<uint32_t>(pipe));
  if (passing.open)
    return;
  passEnd(passing);
  passing_.erase(found);
}

} // namespace ptl::rt::sim
