#include "runtime/sim/core/waits.h"

#include "runtime/sim/core/event_steps.h"
#include "runtime/sim/core/readiness.h"
#include "runtime/sim/run.h"

namespace ptl::rt::sim {

std::string eventText(const Flag &event) {
  return "[" + std::string(pipeName(event.source)) + ", " + std::string(pipeName(event.target)) +
         ", " + std::to_string(event.id) + "]";
}

static std::string waitOfScalarUnit(const CoreState &core, const Step &step) {
  Flag event = isEvent(step.kind) ? eventOf(core, step) : Flag{};
  switch (step.kind) {
  case StepKind::WaitFlag:
    return "for the event " + eventText(event);
  case StepKind::WaitCores:
    return "for the event " + std::to_string(event.id) + " between cores";
  case StepKind::Barrier:
    return "for all pipes";
  default:
    return "for room in the queue of pipe " + std::string(pipeName(step.pipe));
  }
}

static std::string waitOfHead(const Issued &head) {
  switch (head.step->kind) {
  case StepKind::WaitFlag:
    return "for the event " + eventText(head.flag);
  case StepKind::WaitCores:
    return "for the event " + std::to_string(head.flag.id) + " between cores";
  case StepKind::Push:
    return "for a free slot of its queue, for push " + std::to_string(head.ordinal);
  default:
    return "for push " + std::to_string(head.ordinal) + " of its queue";
  }
}

std::string describeWaits(const CoreState &core) {
  std::string text;
  for (size_t i = 0; i < kNumPipes; ++i) {
    auto pipe = static_cast<Pipe>(i);
    if (readinessOf(core, pipe) != Readiness::Waiting)
      continue;
    bool isScalar = pipe == Pipe::S;
    const Step &step = isScalar ? core.next() : *core.pipes[pipe].queue.front().step;
    std::string place = toString(core.function.locations[static_cast<size_t>(step.location)]);
    text += "\n  " + core.name() + ", pipe " + std::string(pipeName(pipe)) + " waits " +
            (place.empty() ? "" : "at " + place + " ") +
            (isScalar ? waitOfScalarUnit(core, step) : waitOfHead(core.pipes[pipe].queue.front()));
  }
  return text;
}

} // namespace ptl::rt::sim
