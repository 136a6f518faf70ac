// Processes the next event of cores, transfers and tasks.
#include "runtime/sim/time/engine_event.h"
#include "runtime/sim/time/engine_block.h"
#include "runtime/sim/time/engine_core.h"
#include "runtime/sim/time/engine_dispatch.h"
#include "runtime/sim/time/engine_pipe.h"
#include "runtime/sim/time/engine_repeat.h"
#include "runtime/sim/time/engine_sample.h"
#include "runtime/sim/time/engine_tasks.h"

namespace ptl::rt::sim {

/// The next transfer of a level (the cache or the memory) has all its bytes and gives its share of the bandwidth back.
static void leaveShared(Engine &e, SharedRate &rate) {
  Cycles time = rate.next();
  uint32_t id = rate.leave();
  if (isOfRepeated(id))
    return leaveRepeated(e, id, time);
  if (isOfRounds(id))
    return leaveRounds(e, id, time);
  CoreClock &clock = *e.cores[id / kNumPipes];
  PipeClock &pipe = clock.pipes[id % kNumPipes];
  // An operation may transfer from the cache and from memory at the same time. The later transfer
  // ends it, but not before the pipe itself has done its part.
  if (--pipe.pending > 0)
    return;
  // Alone its launch would have moved what others moved meanwhile, but no core more than it can.
  Cycles took = time - pipe.started;
  pipe.others = std::max(0.0, took - std::max(pipe.least, took * rate.partOfLaunch()));
  Event event{std::max(time, pipe.ownEnd), 0, EventKind::End};
  event.core = clock.number;
  event.pipe = static_cast<uint8_t>(id % kNumPipes);
  e.push(event);
}

static bool taskEvent(Engine &e, const Event &event) {
  if (event.kind == EventKind::Submitted)
    return mayBegin(e, event.core, e.now);
  if (event.kind == EventKind::Dispatched)
    return handOut(e, *e.launches[event.core]);
  return blockReleased(e, event.core);
}

static bool takeEvent(Engine &e) {
  Event event = e.events.top();
  e.events.pop();
  e.now = event.time;
  // Kinds from `Submitted` on are about tasks and not about cores.
  if (event.kind >= EventKind::Submitted)
    return taskEvent(e, event);
  CoreClock *clock = e.cores[event.core];
  if (!clock) // a look at a core that has ended since
    return true;
  switch (event.kind) {
  case EventKind::Begin:
    clock->begun = true;
    if (!clock->core->begin())
      return e.fail(*clock->group);
    break;
  case EventKind::End:
    endOperation(e, *clock, static_cast<Pipe>(event.pipe));
    break;
  default:
    break;
  case EventKind::Signal: {
    GroupClock &group = *clock->group;
    for (int64_t i = 0; i < event.times; ++i)
      group.group->apply(event.signal, event.queue, clock->core->index());
    auto &arrivals = event.signal == QueueSignal::Signalled ? group.events
                     : event.signal == QueueSignal::Pushed  ? group.tiles
                                                            : group.slots;
    // Later signals replace earlier ones: waiting cores only ask for the last.
    arrivals[static_cast<size_t>(event.queue)] = {e.now, event.queued, event.record};
    --group.signals;
    break;
  }
  }
  GroupClock &group = *clock->group;
  bool all = event.kind == EventKind::Signal;
  // A signal may concern any core of the group.
  if (!all && !progress(e, *clock))
    return false;
  // A core that has finished without using a queue does not hold up the others, so they go on, too.
  if (all || clock->core->isFinished())
    for (const std::unique_ptr<CoreClock> &core : group.cores)
      if (!progress(e, *core))
        return false;
  return !group.group->isFinished() || endGroup(e, group);
}

/// The rate whose next transfer is done first.
static SharedRate &nextShared(Engine &e) { return e.memory.next() < e.l2.next() ? e.memory : e.l2; }

/// The next thing that happens; false after an error.
static bool stepOnce(Engine &e) {
  Cycles event = e.events.empty() ? never : e.events.top().time;
  // At equal times the transfer goes first: the rate must hear of everything in order, and the
  // event may let another transfer join.
  if (SharedRate &shared = nextShared(e); shared.next() <= event) {
    leaveShared(e, shared);
    return true;
  }
  if (!takeEvent(e))
    return false;
  if (e.options.maxOperations && e.timeline.operations > e.options.maxOperations)
    return e.fail("the chip executes more than " + std::to_string(e.options.maxOperations) +
                  " operations, which would take too long for an estimate; smaller lengths have a "
                  "time, and so has the whole simulation of `ptlc sim` without `--estimate`");
  return true;
}

bool runUntil(Engine &e, const std::function<bool()> &isDone) {
  findWays(e);
  while (!e.failed && !isDone()) {
    if (!e.events.empty() || nextShared(e).next() != never) {
      stepOnce(e);
      continue;
    }
    // Nothing can happen any more although it is not done. If a block is on its cores, its group
    // can say what it waits for.
    for (const auto &[span, group] : e.groups)
      return e.fail("block " + std::to_string(group->group->block()) + " of `" +
                    group->launch->request.kernel->name +
                    "` waits forever:" + group->group->describeWaits());
    return e.fail("tasks wait for each other forever");
  }
  return !e.failed;
}

} // namespace ptl::rt::sim
