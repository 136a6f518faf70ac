#include "runtime/sim/core/readiness.h"

#include "runtime/sim/core/event_steps.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

/// Whether the scalar unit itself has to wait for the event of a step. An event that the chip does
/// not have is nothing to wait for, so that issuing the step reports it.
static bool waitsForEvent(const CoreState &core, const Step &step) {
  if (step.kind == StepKind::WaitFlag && step.flag.target == Pipe::S) {
    Flag event = eventOf(core, step);
    return event.id >= 0 && event.id < kMaxPipeEvents && !core.events.isSet(event);
  }
  // A machine may also stop the whole core while it waits for another one.
  if (step.kind == StepKind::WaitCores &&
      (step.pipe == Pipe::S || core.launch.chip.crossWaitsStopCore)) {
    int32_t event = eventOf(core, step).id;
    return event >= 0 && event < int32_t(kMaxCrossFlags) &&
           !hasSignals(core, event, core.crossEvents.issued[static_cast<size_t>(event)]);
  }
  return false;
}

static Readiness scalarReadiness(const CoreState &core) {
  const Step &step = core.next();
  if (step.kind == StepKind::Return)
    return Readiness::Idle;
  if (step.kind == StepKind::Barrier && step.flag.source == Pipe::All)
    return core.pipes.areDrained() ? Readiness::Ready : Readiness::Waiting;
  if (isEvent(step.kind) && !core.launch.options.glance && waitsForEvent(core, step))
    return Readiness::Waiting;
  bool isQueued = step.pipe != Pipe::S && step.pipe != Pipe::All;
  return isQueued && core.pipes[step.pipe].isFull() ? Readiness::Waiting : Readiness::Ready;
}

bool isHeadReady(const CoreState &core, const Issued &head) {
  switch (head.step->kind) {
  case StepKind::WaitFlag:
    return core.launch.options.glance || core.events.isSet(head.flag);
  case StepKind::WaitCores:
    return core.launch.options.glance ||
           hasSignals(core, head.flag.id,
                      core.crossEvents.awaited[static_cast<size_t>(head.flag.id)]);
  case StepKind::Push:
    return isPushReady(core, head);
  case StepKind::Pop:
    return isPopReady(core, head);
  default:
    return true;
  }
}

Readiness readinessOf(const CoreState &core, Pipe pipe) {
  if (pipe == Pipe::S)
    return scalarReadiness(core);
  const PipeState &state = core.pipes[pipe];
  // An instruction that has begun can always end.
  if (state.inFlight)
    return Readiness::Ready;
  if (state.queue.empty())
    return Readiness::Idle;
  return isHeadReady(core, state.queue.front()) ? Readiness::Ready : Readiness::Waiting;
}

} // namespace ptl::rt::sim
