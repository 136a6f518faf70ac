#include "runtime/sim/core/loop_rounds.h"

#include "runtime/sim/core/issue.h"

namespace ptl::rt::sim {

/// The operands of a loop's step from this one on are what it carries; before them are its
/// position, its end and its step.
static constexpr size_t kFirstCarried = 3;

/// Tells the pipes that have something to do in a loop that another round begins, or that it has
/// ended. Pipes without work in the loop need no marks.
static void mark(CoreState &core, const Step &step, const SampleAction &action) {
  const LoopShape &shape = core.loops.sampler->shapeOf(step, core.function);
  for (size_t i = 0; i < kNumPipes; ++i) {
    if (!(shape.pipes >> i & 1))
      continue;
    PipeState &pipe = core.pipes[static_cast<Pipe>(i)];
    ++pipe.marks;
    Issued &issued = pipe.append();
    stamp(core, issued, step);
    issued.mark = action;
  }
  core.loops.marks.push_back(action);
}

/// Keeps what a loop carries into a round, since its growth over a window is continued later.
static void keepCarried(CoreState &core, const Step &step) {
  std::vector<int64_t> values;
  for (size_t i = kFirstCarried; i < step.operands.size(); ++i)
    values.push_back(step.operands[i].isScalar() ? core.registers.scalar(step.operands[i]).i : 0);
  if (!values.empty())
    core.loops.carried[core.numberOf(step)].push_back(std::move(values));
}

/// Continues carried values over the rounds that are left out: a counter goes on, and a value that
/// repeats stays as it is.
static void continueCarried(CoreState &core, const Step &step, const SampleAction &action) {
  const auto &rounds = core.loops.carried[core.numberOf(step)];
  // Without a whole window there is nothing to continue from.
  if (rounds.size() < static_cast<size_t>(action.window))
    return;
  const std::vector<int64_t> &before = rounds[rounds.size() - static_cast<size_t>(action.window)];
  for (size_t i = kFirstCarried; i < step.operands.size(); ++i)
    if (step.operands[i].isScalar()) {
      int64_t &value = core.registers.scalar(step.operands[i]).i;
      value += (value - before[i - kFirstCarried]) * action.skip / action.window;
    }
}

void beginRound(CoreState &core, const Step &step) {
  LoopSampler &sampler = *core.loops.sampler;
  Scalar &position = core.registers.scalar(step.operands[0]);
  int64_t by = std::max<int64_t>(core.registers.integer(step, 2), 1),
          end = core.registers.integer(step, 1);
  // The rounds that are left are counted from the present position, rounded up.
  int64_t left = std::max<int64_t>((end - position.i + by - 1) / by, 0);
  LoopVisit visit{core.numberOf(step),      position.i,      by, left, core.scalar.issued,
                  core.registers.scalars(), core.scalar.work};
  SampleAction action = sampler.visit(visit);
  // Pipes without work in the loop need no marks, and what the scalar unit does is counted here.
  bool isScalar = sampler.shapeOf(step, core.function).isScalar();
  switch (action.kind) {
  case SampleAction::Kind::None:
    return;
  case SampleAction::Kind::Leave:
    // The loop ends here, so the position is set to its end and the sampler hears of that.
    position.i = end;
    visit.left = 0;
    sampler.visit(visit);
    return;
  case SampleAction::Kind::Stand:
    position.i += action.skip * by;
    continueCarried(core, step, action);
    if (isScalar)
      core.scalar.work += sampler.represented();
    break;
  case SampleAction::Kind::End:
    core.loops.carried.erase(visit.step);
    if (!isScalar)
      mark(core, step, action);
    return;
  case SampleAction::Kind::Round:
    break;
  }
  keepCarried(core, step);
  if (!isScalar)
    mark(core, step, action);
}

} // namespace ptl::rt::sim
