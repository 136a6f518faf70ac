#include "runtime/sim/sampling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptl::rt::sim {

/// Longer periods than this are not looked for.
static constexpr int64_t kLongestPeriod = 24;
/// Rounds of an outermost loop that a glance takes where they differ.
static constexpr int64_t kGlanced = 16;
/// Windows that a loop with rounds of different lengths is measured by.
static constexpr int64_t kSegments = 4;

int64_t LoopShapes::addTurns(const Function &function) {
  std::map<int32_t, int64_t> constants;
  int64_t most = 1;
  for (const Step &step : function.steps) {
    if (step.kind == StepKind::Constant)
      constants[step.result.index] = step.constant.i;
    int64_t turn = step.kind == StepKind::GetSlot ? step.slotCount : 1;
    if (step.kind == StepKind::Compute &&
        (step.op == ScalarOp::RemSI || step.op == ScalarOp::RemUI))
      if (auto known = constants.find(step.operands[1].index);
          known != constants.end() && known->second > 1 && known->second <= 16)
        turn = known->second;
    if (period_ <= kLongestPeriod)
      period_ = std::lcm(period_, std::max<int64_t>(turn, 1));
    most = std::max(most, turn);
  }
  return most;
}

LoopShapes::LoopShapes(const Function &function, const Kernel &kernel)
    : shapes_(function.steps.size()) {
  int64_t most = 1;
  for (const std::optional<Function> *half : {&kernel.cube, &kernel.vector})
    if (*half)
      most = std::max(most, addTurns(**half));
  if (period_ > kLongestPeriod)
    period_ = 0;
  for (const Queue &queue : kernel.queues)
    most = std::max(most, queue.slots);
  settling_ = std::max<int64_t>(4, most + 2);
  for (size_t head = 0; head < function.steps.size(); ++head) {
    const Step &step = function.steps[head];
    if (step.kind != StepKind::JumpUnlessLess)
      continue;
    shapes_[head].isLoop = true;
    for (size_t i = head + 1; i < static_cast<size_t>(step.target); ++i) {
      StepKind kind = function.steps[i].kind;
      shapes_[head].hasInner |= kind == StepKind::JumpUnlessLess;
      shapes_[head].hasQueues |= kind == StepKind::Push || kind == StepKind::Pop ||
                                 kind == StepKind::SignalCores || kind == StepKind::WaitCores;
    }
  }
}

void LoopSampler::enter(State &state, size_t step, int64_t trips) {
  for (State *outer : active_)
    outer->inside = outer->inside * 1000003 + static_cast<uint64_t>(trips) + 1;
  seen_ += trips;
  state = {};
  state.active = true;
  active_.push_back(&state);
  int64_t period = shapes_.period();
  if (!period)
    return;
  bool hasInner = shapes_.of(step).hasInner;
  auto whole = [&](int64_t rounds) { return (rounds + period - 1) / period * period; };
  state.warm = whole(hasInner ? 2 : shapes_.settling());
  state.window = whole(hasInner ? 1 : 4);
}

SampleAction LoopSampler::visit(size_t step, int64_t left) {
  State &state = states_[step];
  if (!state.active) {
    enter(state, step, left);
  } else {
    ++state.round;
    state.varies |= state.round > 1 && state.inside != state.before;
    state.before = std::exchange(state.inside, 0);
  }
  if (left <= 0) {
    state.active = false;
    active_.pop_back();
    return {};
  }
  if (glance_) {
    int64_t most = active_.size() > 1 ? 1 : state.varies ? kGlanced : 2;
    bool enough = state.round >= most;
    return {enough ? SampleAction::Kind::Leave : SampleAction::Kind::None};
  }
  return state.window ? act(state, step, left) : SampleAction{};
}

SampleAction LoopSampler::act(State &state, size_t step, int64_t left) {
  bool isFirst = state.round == state.warm && state.end < 0 && left > 2 * state.window;
  if (isFirst || state.round == state.begin) {
    state.end = state.round + state.window;
    return {SampleAction::Kind::Begin, 0, 0, state.window};
  }
  if (state.round != state.end)
    return {};
  return state.varies || state.segments ? spread(state, left) : skipAlike(state, step, left);
}

/// The measured window stands for all that is left but the end of the loop.
SampleAction LoopSampler::skipAlike(State &state, size_t step, int64_t left) {
  int64_t skip = (left - 1) / state.window * state.window;
  if (shapes_.of(step).hasQueues) {
    auto [agreed, isFirst] = group_.try_emplace(queueLoops_++, skip);
    skip = agreed->second;
    if (skip >= left) // the cores do not agree; who waits for whom will tell
      skip = 0;
  }
  skipped_ += skip;
  return {SampleAction::Kind::End, skip / state.window, skip, state.window};
}

/// The first window has shown that rounds differ and stands for itself alone; the others stand for
/// those around them.
SampleAction LoopSampler::spread(State &state, int64_t left) {
  SampleAction action{SampleAction::Kind::End, 0, 0, state.window};
  if (state.segments == 0) {
    state.factor = (left / kSegments - state.warm) / state.window - 1;
    if (state.factor < 1)
      return action;
    state.gap = state.factor / 2 * state.window;
    state.segments = kSegments;
    action.skip = state.gap;
  } else {
    action.factor = state.factor;
    action.skip = state.factor * state.window - state.gap + (--state.segments ? state.gap : 0);
  }
  if (state.segments)
    state.begin = state.round + state.warm;
  skipped_ += action.skip;
  return action;
}

} // namespace ptl::rt::sim
