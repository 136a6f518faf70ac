#include "runtime/sim/core/issue.h"

#include "runtime/sim/core/event_steps.h"
#include "runtime/sim/core/fault.h"
#include "runtime/sim/core/operations.h"
#include "runtime/sim/core/scalar_memory.h"
#include "runtime/sim/core/scalar_unit.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

void stamp(CoreState &core, Issued &issued, const Step &step) {
  issued.function = &core.function;
  issued.step = &step;
  issued.sequence = core.scalar.issued++;
  issued.time = core.scalar.time;
  issued.note = core.scalar.note;
}

void fillIssued(CoreState &core, Issued &issued, const Step &step) {
  const std::optional<LoopSampler> &sampler = core.loops.sampler;
  stamp(core, issued, step);
  issued.flag = {};
  issued.ordinal = sampler ? sampler->outerRound() : 0;
  issued.times = core.launch.options.glance ? sampler->times() : 1;
  if (isEvent(step.kind)) {
    issued.flag = eventOf(core, step);
    return;
  }
  for (size_t i = 0; i < step.operands.size() && i < kMaxOperands; ++i) {
    Register r = step.operands[i];
    // Operands are assigned in place, since they are large.
    if (r.kind == RegisterKind::Scalar)
      issued.operands[i] = core.registers.scalar(r);
    else if (r.kind == RegisterKind::Tile)
      issued.operands[i] = core.registers.tile(r);
    else
      issued.operands[i] = core.registers.view(r);
  }
  // A tile that goes from the accumulator to a vector core arrives in that core's memory.
  if (step.modifiers.accToVec)
    for (size_t i = step.numIns(); i < step.operands.size(); ++i)
      if (Tile *tile = std::get_if<Tile>(&issued.operands[i]))
        tile->core = core.group.firstVector() + (*step.modifiers.accToVec == AccToVec::Vec1);
}

/// What the scalar unit does itself at once, without a pipe.
static bool runOnScalarUnit(CoreState &core, const Step &step) {
  Issued issued;
  fillIssued(core, issued, step);
  return (!isEvent(step.kind) || checkEvent(core, issued)) && runOperation(core, Pipe::S, issued);
}

static bool issue(CoreState &core, const Step &step) {
  // A free of a local slot waits in a list of its own, since it concerns all pipes.
  if (step.kind == StepKind::Free && !queueOf(core, step).throughGlobal)
    return issueLocalFree(core, step);
  if (step.pipe == Pipe::S)
    return runOnScalarUnit(core, step);
  Issued &issued = core.pipes[step.pipe].append();
  fillIssued(core, issued, step);
  if (step.queue >= 0)
    return numberAtQueue(core, issued);
  return !isEvent(step.kind) || checkEvent(core, issued);
}

bool advanceScalar(CoreState &core) {
  const Step &step = core.next();
  ++core.scalar.position;
  core.scalar.work += workOfStep(step);
  bool ok = true;
  switch (step.kind) {
  case StepKind::LoadScalar:
  case StepKind::StoreScalar:
    ok = accessScalar(core, step);
    break;
  case StepKind::GetValue:
    ok = getValue(core, step);
    break;
  case StepKind::Barrier:
    // All pipes are empty at a barrier of all, so what the vector pipe has written can settle at
    // once. The scalar unit has no operations to wait for.
    if (step.flag.source == Pipe::All)
      core.vectorWrites.settle(randomOrder(core));
    else if (step.flag.source != Pipe::S)
      ok = issue(core, step);
    break;
  default:
    ok = issue(core, step);
    break;
  }
  return ok && wasKnown(core, step) && runToIssue(core);
}

} // namespace ptl::rt::sim
