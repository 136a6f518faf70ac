#include "runtime/sim/core/operations.h"

#include "runtime/sim/core/event_steps.h"
#include "runtime/sim/core/run_instruction.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

bool runOperation(CoreState &core, Pipe pipe, Issued &issued) {
  StepKind kind = issued.step->kind;
  // A glance leaves rounds out on each core for itself, so events need not match, and without
  // values nobody needs them. Queues tell how cores keep pace with each other: where they do not
  // match there is no glance.
  if (core.launch.options.glance && isEvent(kind))
    return true;
  switch (kind) {
  case StepKind::SetFlag:
    return setEvent(core, pipe, issued);
  case StepKind::WaitFlag:
    takeEvent(core, pipe, issued);
    return true;
  case StepKind::SignalCores:
    return signalCores(core, pipe, issued);
  case StepKind::WaitCores:
    takeSignal(core, pipe, issued);
    return true;
  case StepKind::Barrier:
    if (pipe == Pipe::V)
      core.vectorWrites.settle(randomOrder(core));
    return true;
  case StepKind::Free:
    core.group.signal(QueueSignal::Freed, issued.step->queue, core.index);
    return true;
  case StepKind::JumpUnlessLess: // a mark, for drivers that keep time
    return true;
  default:
    return runInstruction(core, pipe, issued);
  }
}

/// Lets others see what the head of a pipe has written, if it was held until here.
static void writeHeld(CoreState &core, Pipe pipe) {
  std::optional<HeldWrites> &held = core.pipes[pipe].inFlight;
  if (!held)
    return;
  // The vector pipe itself does not see the writes before a barrier, so they are kept apart.
  if (pipe == Pipe::V && delaysVector(core))
    core.vectorWrites.add(std::move(*held));
  else
    held->commit();
  held.reset();
}

void completeHead(CoreState &core, Pipe pipe) {
  PipeState &state = core.pipes[pipe];
  const Issued &done = state.queue.front();
  StepKind kind = done.step->kind;
  int32_t queue = done.step->queue;
  if (core.launch.options.trace)
    core.launch.options.trace(
        {core.group.block(), core.index, core.function.cube, core.subBlock, pipe, &done});
  // Ends of rounds stand in a queue only to be noticed; they do no work.
  state.marks -= kind == StepKind::JumpUnlessLess;
  state.queue.pop();
  ++state.done;
  // What an instruction wrote becomes visible before others hear of it, or they could read what was
  // there before.
  writeHeld(core, pipe);
  if (kind == StepKind::Push)
    core.group.signal(QueueSignal::Pushed, queue, core.index);
  else if (kind == StepKind::Pop)
    core.group.signal(QueueSignal::Popped, queue, core.index);
  giveSlotsBack(core);
}

/// Random schedules let any of the vector instructions up to the next event or barrier go first, on
/// chips where nothing else orders them.
static void reorderVector(CoreState &core) {
  std::mt19937_64 *random = randomOrder(core);
  if (!random || !delaysVector(core) || (*random)() % 2)
    return;
  IssueQueue &queue = core.pipes[Pipe::V].queue;
  size_t count = 0;
  while (count < queue.size() && queue[count].step->kind == StepKind::Instruction)
    ++count;
  if (count < 2)
    return;
  for (size_t chosen = (*random)() % count; chosen > 0; --chosen)
    std::swap(queue[chosen], queue[chosen - 1]);
}

bool advancePipe(CoreState &core, Pipe pipe) {
  PipeState &state = core.pipes[pipe];
  if (!state.inFlight) {
    if (pipe == Pipe::V)
      reorderVector(core);
    if (!runOperation(core, pipe, state.queue.front()))
      return false;
    // Others run between the reads and the writes.
    if (state.inFlight && core.launch.options.stretched)
      return true;
  }
  completeHead(core, pipe);
  return true;
}

} // namespace ptl::rt::sim
