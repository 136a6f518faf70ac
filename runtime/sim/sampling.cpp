#include "runtime/sim/sampling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptl::rt::sim {

/// Longer periods than this are not looked for.
static constexpr int64_t kLongestPeriod = 24;
/// Windows that a loop with rounds of different lengths is measured by.
static constexpr int64_t kSegments = 4;

LoopShapes::LoopShapes(const Function &function, const std::vector<Queue> &queues)
    : shapes_(function.steps.size()) {
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
    period_ = std::lcm(period_, std::max<int64_t>(turn, 1));
    most = std::max(most, turn);
    if (period_ > kLongestPeriod)
      break;
  }
  if (period_ > kLongestPeriod)
    period_ = 0;
  for (const Queue &queue : queues)
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
      shapes_[head].hasQueues |= kind == StepKind::Push || kind == StepKind::Pop;
    }
  }
}

void LoopSampler::enter(State &state, size_t step, int64_t trips) {
  for (State *outer : active_)
    outer->inside = outer->inside * 1000003 + static_cast<uint64_t>(trips) + 1;
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
    bool enough = state.round >= (active_.size() == 1 ? 2 : 1);
    return {enough ? SampleAction::Kind::Leave : SampleAction::Kind::None};
  }
  return state.window ? act(state, step, left) : SampleAction{};
}

SampleAction LoopSampler::act(State &state, size_t step, int64_t left) {
  if (state.round == state.warm && state.segments == 0 && left > 2 * state.window) {
    state.end = state.round + state.window;
    return {SampleAction::Kind::Begin, 0, 0, state.window};
  }
  if (state.round != state.end)
    return {};
  if (state.segments)
    return spread(state, left);
  return state.varies ? spread(state, left) : skipAlike(state, step, left);
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

/// The next of several windows. The one before, if there is one, stands for those around it.
SampleAction LoopSampler::spread(State &state, int64_t left) {
  SampleAction action{SampleAction::Kind::End, 0, 0, state.window};
  if (state.segments == 0) { // the window that has just run stands for itself
    int64_t length = left / kSegments / state.window * state.window;
    if (length < 2 * state.window)
      return action;
    state.factor = length / state.window - 1;
    state.gap = state.factor / 2 * state.window;
    state.segments = kSegments + 1;
    action.skip = state.gap;
  } else {
    int64_t behind = state.factor * state.window - state.gap;
    action.factor = state.factor;
    action.skip = behind + (state.segments > 1 ? state.gap : 0);
  }
  if (--state.segments > 0) {
    action.begins = true;
    state.end = state.round + state.window;
  }
  skipped_ += action.skip;
  return action;
}

} // namespace ptl::rt::sim
