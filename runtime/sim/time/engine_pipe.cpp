// Operations of pipes: what they wait for, and how long they take.
#include "runtime/sim/time/engine_pipe.h"
#include "runtime/sim/time/engine_repeat.h"
#include "runtime/sim/time/engine_sample.h"

namespace ptl::rt::sim {

// `notBefore` is the time at which the pipe is looked at again; until then it need not be.
static void wake(Engine &e, CoreClock &clock, Pipe pipe, Cycles time) {
  Cycles &notBefore = clock.notBefore[at(pipe)];
  // The same event is pending already.
  if (notBefore == time)
    return;
  notBefore = time;
  Event event{time, 0, EventKind::Wake};
  event.core = clock.number;
  e.push(event);
}

/// Whether the head of a pipe may begin now. If only its time has not come, an event is made that
/// checks it again.
static bool ready(Engine &e, CoreClock &clock, Pipe pipe, const Issued &head) {
  PipeClock &state = clock.pipes[at(pipe)];
  // The end of these transfers checks again.
  if (state.standing > 0 && waitsForRounds(e, clock, pipe))
    return false;
  // The head can begin when the pipe is free and the scalar unit has issued it.
  Cycles earliest = std::max(state.free, head.time);
  StepKind kind = head.step->kind;
  // These operations guarantee that earlier results are visible, so they also wait for the latency
  // of the last operation. Instructions do not.
  bool settles = kind == StepKind::SetFlag || kind == StepKind::SignalCores ||
                 kind == StepKind::Barrier || kind == StepKind::Free;
  if (settles)
    earliest = std::max(earliest, state.settled);
  // Events at sites that are left out have no effect.
  if (kind == StepKind::WaitFlag && !e.isLeftOut(e.siteOf(clock, *head.step))) {
    if (!clock.core->canStart(pipe))
      return false;
    earliest = std::max(earliest,
                        clock.flagTime[at(head.flag.source)][at(head.flag.target)][head.flag.id]);
  } else if (kind != StepKind::WaitFlag && !clock.core->canStart(pipe)) {
    return false;
  }
  // An event at its time checks again.
  if (earliest <= e.now)
    return true;
  wake(e, clock, pipe, earliest);
  return false;
}

/// Notes why an operation begins now and not earlier.
static void explain(const Engine &e, const CoreClock &clock, Pipe pipe, const Issued &head,
                    Record &record) {
  const PipeClock &state = clock.pipes[at(pipe)];
  record.ready = state.free;
  record.start = e.now;
  record.before = state.last;
  record.lane = static_cast<uint16_t>(clock.firstLane + at(pipe));
  // The latest of all causes is the one that the operation waited for. On a tie the pipe's own
  // predecessor is named.
  Cycles latest = state.free;
  if (head.time > latest) {
    latest = head.time;
    record.cause = Cause::Scalar;
    record.waitedFor = head.note;
  }
  auto consider = [&](Cycles time, Cause cause, uint32_t who) {
    if (time <= latest)
      return;
    latest = time;
    record.cause = cause;
    record.waitedFor = who;
  };
  // For a signal, the cause is whatever made up the larger part of the wait.
  auto hear = [&](const GroupClock::Arrival &signal, Cause cause) {
    Cycles wait = signal.time - latest;
    if (wait <= 0)
      return;
    consider(signal.time, 2 * signal.queued > wait ? Cause::Signals : cause, signal.record);
    record.queued = std::min(signal.queued, wait);
  };
  StepKind kind = head.step->kind;
  auto queue = static_cast<size_t>(std::max(head.step->queue, 0));
  if (kind == StepKind::WaitFlag) {
    size_t from = at(head.flag.source), to = at(head.flag.target);
    uint32_t setter = clock.flagRecord[from][to][head.flag.id];
    consider(clock.flagTime[from][to][head.flag.id], Cause::Event, setter);
    record.setter = setter;
  } else if (kind == StepKind::WaitCores) {
    const GroupClock::Arrival &signal = clock.group->events[static_cast<size_t>(head.flag.id)];
    hear(signal, Cause::Event);
    record.setter = signal.record;
  } else if (kind == StepKind::Pop) {
    hear(clock.group->tiles[queue], Cause::Tile);
  } else if (kind == StepKind::Push) {
    hear(clock.group->slots[queue], Cause::Slot);
  } else if (kind != StepKind::Instruction) {
    consider(state.settled, kind == StepKind::Barrier ? Cause::Barrier : Cause::Latency,
             state.last);
  }
  if (record.cause == Cause::None && state.last == kNoRecord)
    record.cause = Cause::Start;
}

/// Executes an event, a barrier, or the freeing of a slot.
static bool synchronise(Engine &e, CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  const Issued &head = *clock.core->head(pipe);
  StepKind kind = head.step->kind;
  Flag flag = head.flag;
  bool leftOut = e.isLeftOut(e.siteOf(clock, *head.step));
  Record record;
  record.site = e.siteOf(clock, *head.step);
  if (e.options.record)
    explain(e, clock, pipe, head, record);
  // An event takes the time that the control unit needs.
  record.end = e.now + (leftOut ? 0 : e.model.costs().control.event);
  state.last = e.actor = e.addRecord(clock, record);
  state.free = record.end;
  state.settled = std::max(state.settled, state.free);
  state.filled = false;
  ++e.timeline.operations;
  ++clock.group->launch->totalOf(record.site).count;
  noteDone(state, record.site, {1, 0, 0});
  if (!leftOut && !clock.core->startHead(pipe))
    return e.fail(*clock.group);
  clock.core->endHead(pipe);
  // Later waits read the time at which the event was set, and by whom.
  if (kind == StepKind::SetFlag && !leftOut) {
    clock.flagTime[at(flag.source)][at(flag.target)][flag.id] = record.end;
    clock.flagRecord[at(flag.source)][at(flag.target)][flag.id] = state.last;
  }
  return true;
}

static OperationCost costOf(const Engine &e, const CoreClock &clock, Pipe pipe,
                            const Issued &head) {
  // This pipe takes no time in a what-if run.
  if (e.options.whatIf.pipe[at(pipe)])
    return {};
  const Queue *queue = nullptr;
  if (head.step->queue >= 0)
    queue = &clock.group->launch->request.kernel->queues[static_cast<size_t>(head.step->queue)];
  OperationCost cost = e.model.costOf(head, queue);
  if (e.options.whatIf.latency)
    cost.tail = 0;
  bool onlyFirst = queue && !queue->toVector && head.step->kind == StepKind::Push &&
                   head.step->split == 0 && clock.core->subBlock() != 0;
  return onlyFirst ? OperationCost{} : cost; // the other vector cores push nothing
}

/// Joins the shared bandwidths that a transfer uses.
static void joinShared(Engine &e, CoreClock &clock, Pipe pipe, const OperationCost &cost,
                       const Issued &head) {
  PipeClock &state = clock.pipes[at(pipe)];
  const SharedMemoryCost &memory = e.model.costs().memory;
  LaunchClock &launch = *clock.group->launch;
  int64_t missed = 0;
  state.array = -1;
  if (cost.view && cost.view->array >= 0)
    // The second-level cache tells how many bytes are not in it yet.
    missed = e.second.touch(launch.request.arrays[static_cast<size_t>(cost.view->array)],
                            *cost.view, &launch.touched[static_cast<size_t>(cost.view->array)]);
  double part = 1; // of the blocks it stands for, the share that misses
  if (launch.sharing && missed > 0)
    part = launch.sharing->missing(clock.core->isCube(), head.step, head.ordinal);
  // The part that follows stands for one that data chooses, which others may have touched.
  if (missed > 0 && !cost.writes && cost.view->isSomewhere) {
    state.array = cost.view->array;
    auto first = static_cast<double>(
        launch.firstMisses(state.array, static_cast<int64_t>(static_cast<double>(missed) * part),
                           clock.group->group->block()));
    part = std::min(part, first / static_cast<double>(missed));
  }
  // What core groups that are not simulated bring into the cache ages it, too.
  double weight = launch.weightOf(clock.group->group->block());
  state.brought = static_cast<int64_t>(static_cast<double>(missed) * part * weight);
  launch.brought += state.brought;
  e.second.forget(std::max<int64_t>(state.brought - missed, 0));
  missed = static_cast<int64_t>(static_cast<double>(missed) * part);
  if (cost.writes) // L2 takes the bytes; writing them back to memory is not modelled
    missed = 0;
  launch.bytes += state.bytes = cost.bytes;
  launch.missed += state.missed = missed;
  clock.group->bytes += cost.bytes;
  clock.group->missed += missed;
  if (e.options.whatIf.shared)
    return;
  weight = launch.weightNow(clock.group->group->block());
  // Each pipe of each core has its own number at the shared bandwidths.
  uint32_t id = clock.number * static_cast<uint32_t>(kNumPipes) + static_cast<uint32_t>(at(pipe));
  if (missed > 0)
    // A miss adds the latency of the memory to the transfer's own time.
    state.ownEnd += part * memory.missLatency;
  state.least = std::max(state.ownEnd - e.now, static_cast<double>(cost.bytes) / cost.rate);
  if (memory.l2Rate > 0) {
    ++state.pending;
    e.l2.join(e.now, id, static_cast<double>(cost.bytes), cost.rate, weight, launch.number);
  }
  // The missing bytes also share the bandwidth of the memory.
  if (missed > 0 && memory.memoryRate > 0) {
    ++state.pending;
    double rate = memory.memoryRateOfCore > 0 ? memory.memoryRateOfCore : cost.rate;
    state.least = std::max(state.least, static_cast<double>(missed) / rate);
    e.memory.join(e.now, id, static_cast<double>(missed), rate, weight, launch.number);
  }
  if (e.options.record)
    e.timeline.traffic.push_back({e.now, state.ownEnd, cost.bytes, missed});
}

static void noteBuffers(Engine &e, const CoreClock &clock, const Issued &head, Cycles end) {
  const Step &step = *head.step;
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (const Tile *tile = std::get_if<Tile>(&head.operands[i]); tile && tile->address >= 0)
      e.timeline.accesses.push_back({e.now, end, tile->address, tile->bufferBytes(), tile->place,
                                     clock.core->isCube(),
                                     i >= step.numIns() || step.kind == StepKind::Pop});
}

static bool beginOperation(Engine &e, CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  const Issued &head = *clock.core->head(pipe);
  OperationCost cost = costOf(e, clock, pipe, head);
  Record record;
  record.site = e.siteOf(clock, *head.step);
  if (e.options.record)
    explain(e, clock, pipe, head, record);
  state.site = record.site;
  state.started = e.now;
  // The start-up cost is paid only if the pipe was idle.
  bool follows = state.filled && state.free == e.now;
  state.ownEnd = e.now + cost.busy + (follows ? 0 : cost.head);
  state.tail = record.tail = cost.tail;
  state.pending = 0;
  state.bytes = state.missed = state.brought = 0;
  state.others = 0;
  state.works = true;
  clock.notBefore[at(pipe)] = never;
  state.record = e.addRecord(clock, record);
  // Buffers are recorded for the first core only, because the others use theirs in the same way.
  bool isFirst = e.timeline.lanes[clock.firstLane].number == 0 && clock.core->subBlock() == 0;
  if (state.record != kNoRecord && isFirst)
    noteBuffers(e, clock, head, state.ownEnd);
  // Only operations that move bytes through shared memory join it.
  if (cost.bytes > 0 && cost.rate > 0)
    joinShared(e, clock, pipe, cost, head);
  if (!clock.core->startHead(pipe))
    return e.fail(*clock.group);
  // Otherwise the end depends on the other transfers at that time; `leaveShared` makes the event.
  if (state.pending == 0) {
    Event event{state.ownEnd, 0, EventKind::End};
    event.core = clock.number;
    event.pipe = static_cast<uint8_t>(pipe);
    e.push(event);
  }
  return true;
}

void endOperation(Engine &e, CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  clock.notBefore[at(pipe)] = 0;
  state.filled = true;
  state.free = e.now;
  state.settled = e.now + state.tail;
  state.last = e.actor = state.record;
  // Time beyond the operation's own end was spent waiting for shared bandwidth.
  Cycles stall = e.now - state.ownEnd;
  if (state.record != kNoRecord) {
    Record &record = e.timeline.records[state.record];
    record.end = e.now;
    record.stall = stall;
  }
  ++e.timeline.operations;
  noteUse(e, clock, pipe);
  SiteTotal &total = clock.group->launch->totalOf(state.site);
  ++total.count;
  total.busy += e.now - state.started;
  total.stall += stall;
  state.worked += e.now - state.started;
  state.allOthers += state.others;
  noteDone(state, state.site, {1, e.now - state.started, stall});
  state.others = 0;
  state.array = -1;
  state.bytes = state.missed = state.brought = 0; // the next operation may be no transfer
  clock.core->endHead(pipe);
}

bool progressPipe(Engine &e, CoreClock &clock, Pipe pipe) {
  bool any = false;
  // Several operations without a duration, such as events, may pass at one time.
  while (clock.notBefore[at(pipe)] <= e.now && !e.failed) {
    const Issued *head = clock.core->head(pipe);
    if (!head || !ready(e, clock, pipe, *head))
      break;
    switch (head->step->kind) {
    case StepKind::SetFlag:
    case StepKind::WaitFlag:
    case StepKind::SignalCores:
    case StepKind::WaitCores:
    case StepKind::Barrier:
    case StepKind::Free:
      any |= synchronise(e, clock, pipe);
      break;
    case StepKind::JumpUnlessLess:
      any |= takeMark(e, clock, pipe);
      break;
    default:
      any |= beginOperation(e, clock, pipe);
      break;
    }
  }
  return any;
}

} // namespace ptl::rt::sim
