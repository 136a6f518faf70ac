#include "runtime/sim/core/event_steps.h"

#include "runtime/sim/core/fault.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

std::mt19937_64 *randomOrder(const CoreState &core) {
  return core.launch.options.schedule == Schedule::Random ? &core.launch.random : nullptr;
}

Flag eventOf(const CoreState &core, const Step &step) {
  Flag event = step.flag;
  // An id that is not a constant is computed; the clamp keeps a wild one representable until it is
  // reported.
  if (event.id < 0)
    event.id =
        static_cast<int32_t>(std::clamp<int64_t>(core.registers.integer(step, 0), -1, 1 << 20));
  return event;
}

static bool checkCrossEvent(CoreState &core, const Issued &issued) {
  int32_t event = issued.flag.id;
  int32_t events = std::min(core.launch.chip.crossFlags, int32_t(kMaxCrossFlags));
  if (event < 0 || event >= events)
    return failAt(core, *issued.step,
                  "names the event " + std::to_string(event) + " between cores; there are " +
                      std::to_string(events));
  core.crossEvents.issued[static_cast<size_t>(event)] += issued.step->kind == StepKind::WaitCores;
  return true;
}

bool checkEvent(CoreState &core, const Issued &issued) {
  if (issued.step->kind == StepKind::SignalCores || issued.step->kind == StepKind::WaitCores)
    return checkCrossEvent(core, issued);
  const Flag &event = issued.flag;
  int32_t events = core.launch.chip.events;
  bool pipes = at(event.source) < kNumPipes && at(event.target) < kNumPipes;
  if (pipes && event.id >= 0 && event.id < std::min(events, kMaxPipeEvents))
    return true;
  return failAt(core, *issued.step,
                "names the event " + std::to_string(event.id) + "; there are " +
                    std::to_string(events) + " for each pair of pipes");
}

bool setEvent(CoreState &core, Pipe pipe, const Issued &issued) {
  // What the vector pipe has written becomes visible to whoever waits for the event.
  if (pipe == Pipe::V)
    core.vectorWrites.publish(randomOrder(core));
  if (core.events.isSet(issued.flag) && !core.launch.options.countEvents)
    return failAt(core, *issued.step, "sets an event that is set already");
  core.events.set(issued.flag,
                  pipe == Pipe::V ? core.vectorWrites.count() : core.events.known(pipe));
  return true;
}

void takeEvent(CoreState &core, Pipe pipe, const Issued &issued) {
  uint64_t known = core.events.take(issued.flag, pipe);
  if (pipe == Pipe::V)
    core.vectorWrites.settleUpTo(known);
}

bool hasSignals(const CoreState &core, int32_t event, int64_t number) {
  bool any = false;
  for (const std::unique_ptr<Core> &other : core.group.cores())
    if (other->isCube() != core.function.cube) {
      any = true;
      if (core.group.signalled(other->index(), event) <= number)
        return false;
    }
  // A core that is alone waits for ever, which is reported then.
  return any;
}

bool signalCores(CoreState &core, Pipe pipe, const Issued &issued) {
  int32_t event = issued.flag.id;
  int64_t most = core.launch.chip.crossCountMax;
  // The signal makes the results visible to other cores, as an event does to other pipes.
  if (pipe == Pipe::V)
    core.vectorWrites.publish(randomOrder(core));
  int64_t sent = ++core.crossEvents.sent[static_cast<size_t>(event)];
  for (const std::unique_ptr<Core> &other : core.group.cores())
    if (other->isCube() != core.function.cube && sent - other->awaited(event) > most)
      return failAt(core, *issued.step,
                    "signals the event " + std::to_string(event) + " between cores " +
                        std::to_string(sent - other->awaited(event)) + " times before " +
                        other->name() + " waits for it; it counts up to " + std::to_string(most));
  core.group.signal(QueueSignal::Signalled, event, core.index);
  return true;
}

void takeSignal(CoreState &core, Pipe pipe, const Issued &issued) {
  ++core.crossEvents.awaited[static_cast<size_t>(issued.flag.id)];
  // The other core has seen the results of this core's vector pipe, so the pipe itself sees them,
  // too.
  if (pipe == Pipe::V)
    core.vectorWrites.settleUpTo(core.vectorWrites.count());
}

} // namespace ptl::rt::sim
