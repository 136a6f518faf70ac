// Cores in time: the scalar unit runs ahead of its pipes, which take their operations in order.
#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

static size_t at(Pipe pipe) { return static_cast<size_t>(pipe); }

/// Does all that can be done now.
bool Timer::Engine::progress(CoreClock &clock) {
  bool any = clock.begun;
  while (any) {
    any = progressScalar(clock);
    for (size_t i = 1; i < numPipes && !failed_; ++i)
      any |= progressPipe(clock, static_cast<Pipe>(i));
    if (failed_)
      return false;
  }
  return true;
}

// ---- the scalar unit ----------------------------------------------------------------------------

static Cause causeOfScalar(const Step &step) {
  if (step.kind == StepKind::WaitFlag || step.kind == StepKind::WaitCores)
    return Cause::Event;
  return step.kind == StepKind::Barrier ? Cause::Barrier : Cause::Room;
}

/// The scalar unit goes on with a step that it had to wait for.
Record Timer::Engine::scalarWait(const CoreClock &clock, const Step &step) const {
  Record record;
  record.ready = clock.scalar;
  record.start = record.end = now_;
  record.site = siteOf(clock, step);
  record.before = clock.scalarRecord;
  record.waitedFor = actor_;
  record.lane = static_cast<uint16_t>(clock.firstLane);
  record.cause = causeOfScalar(step);
  if (record.cause != Cause::Event)
    return record;
  Flag flag = clock.core->flagOf(step);
  if (step.kind == StepKind::WaitFlag) {
    if (flag.id >= 0)
      record.waitedFor = clock.flagRecord[at(flag.source)][at(flag.target)][flag.id];
    return record;
  }
  const GroupClock::Arrival &signal = clock.group->events[static_cast<size_t>(flag.id)];
  record.waitedFor = signal.record;
  record.queued = std::min(signal.queued, now_ - clock.scalar);
  if (2 * record.queued > now_ - clock.scalar)
    record.cause = Cause::Signals;
  return record;
}

bool Timer::Engine::progressScalar(CoreClock &clock) {
  bool any = false;
  Core &core = *clock.core;
  for (;;) {
    Core::State state = core.state(Pipe::S);
    if (state == Core::State::Idle)
      return any;
    if (state == Core::State::Waiting) {
      clock.scalarWaits = true;
      return any;
    }
    const Step &step = core.nextStep();
    if (clock.scalarWaits && now_ > clock.scalar) {
      clock.scalarRecord = add(clock, scalarWait(clock, step));
      clock.scalar = now_;
    }
    clock.scalarWaits = false;
    if (!takeScalarStep(clock))
      return false;
    any = true;
  }
}

/// A barrier of all pipes goes on when the results of all are there.
void Timer::Engine::awaitResults(CoreClock &clock, uint32_t site) {
  const PipeClock *latest = nullptr;
  for (const PipeClock &pipe : clock.pipes)
    if (Cycles there = std::max(pipe.free, pipe.settled); there > clock.scalar) {
      clock.scalar = there;
      latest = &pipe;
    }
  if (!latest)
    return;
  Record record;
  record.ready = record.start = record.end = clock.scalar;
  record.site = site;
  record.before = clock.scalarRecord;
  record.waitedFor = latest->last;
  record.lane = static_cast<uint16_t>(clock.firstLane);
  record.cause = Cause::Barrier;
  clock.scalarRecord = add(clock, record);
}

bool Timer::Engine::takeScalarStep(CoreClock &clock) {
  Core &core = *clock.core;
  const Step &step = core.nextStep();
  const ControlCost &control = model_.costs().control;
  bool free = options.whatIf.scalar;
  Cycles cost = control.issue;
  if (step.kind == StepKind::LoadScalar || step.kind == StepKind::StoreScalar ||
      step.kind == StepKind::GetValue)
    cost = control.scalarLoad;
  if (step.kind == StepKind::Barrier && step.flag.source == Pipe::All)
    awaitResults(clock, siteOf(clock, step));
  clock.scalar += free ? 0 : cost;
  clock.scalarBusy += free ? 0 : cost;
  core.setClock(clock.scalar, clock.scalarRecord);
  uint64_t before = core.scalarWork();
  StepKind kind = step.kind;
  Flag flag = step.flag;
  if (!core.advance(Pipe::S))
    return fail(*clock.group);
  if (kind == StepKind::SetFlag && flag.source == Pipe::S && flag.id >= 0 && flag.id < 16) {
    clock.flagTime[at(flag.source)][at(flag.target)][flag.id] = clock.scalar;
    clock.flagRecord[at(flag.source)][at(flag.target)][flag.id] = clock.scalarRecord;
  }
  if (!free) {
    Cycles work = static_cast<Cycles>(core.scalarWork() - before) * control.scalar;
    clock.scalar += work;
    clock.scalarBusy += work;
  }
  if (options.sample || options.paces)
    takeScalarMarks(clock);
  return true;
}

// ---- pipes --------------------------------------------------------------------------------------

void Timer::Engine::wake(CoreClock &clock, PipeClock &pipe, Cycles time) {
  if (pipe.wakeAt == time)
    return;
  pipe.wakeAt = time;
  Event event{time, 0, EventKind::Wake};
  event.core = clock.number;
  push(event);
}

/// Whether the head of a pipe may begin now; if only time is missing, somebody will look again.
bool Timer::Engine::ready(CoreClock &clock, Pipe pipe, const Issued &head) {
  PipeClock &state = clock.pipes[at(pipe)];
  Cycles earliest = std::max(state.free, head.time);
  StepKind kind = head.step->kind;
  bool settles = kind == StepKind::SetFlag || kind == StepKind::SignalCores ||
                 kind == StepKind::Barrier || kind == StepKind::Free;
  if (settles)
    earliest = std::max(earliest, state.settled);
  if (kind == StepKind::WaitFlag && !isLeftOut(siteOf(clock, *head.step))) {
    if (!clock.core->canStart(pipe))
      return false;
    earliest = std::max(earliest,
                        clock.flagTime[at(head.flag.source)][at(head.flag.target)][head.flag.id]);
  } else if (kind != StepKind::WaitFlag && !clock.core->canStart(pipe)) {
    return false;
  }
  if (earliest <= now_)
    return true;
  wake(clock, state, earliest);
  return false;
}

bool Timer::Engine::progressPipe(CoreClock &clock, Pipe pipe) {
  bool any = false;
  PipeClock &state = clock.pipes[at(pipe)];
  while (!state.busy && !failed_) {
    const Issued *head = clock.core->head(pipe);
    if (!head || !ready(clock, pipe, *head))
      break;
    switch (head->step->kind) {
    case StepKind::SetFlag:
    case StepKind::WaitFlag:
    case StepKind::SignalCores:
    case StepKind::WaitCores:
    case StepKind::Barrier:
    case StepKind::Free:
      any |= synchronise(clock, pipe);
      break;
    case StepKind::JumpUnlessLess:
      any |= takeMark(clock, pipe);
      break;
    default:
      any |= begin(clock, pipe);
      break;
    }
  }
  return any;
}

uint32_t Timer::Engine::add(const CoreClock &clock, const Record &record) {
  if (!options.record || timeline.records.size() >= options.mostRecords)
    return noRecord;
  timeline.records.push_back(record);
  timeline.records.back().block = clock.group->span;
  return static_cast<uint32_t>(timeline.records.size() - 1);
}

/// Why an operation begins now and not before.
void Timer::Engine::explain(const CoreClock &clock, Pipe pipe, const Issued &head,
                            Record &record) const {
  const PipeClock &state = clock.pipes[at(pipe)];
  record.ready = state.free;
  record.start = now_;
  record.before = state.last;
  record.lane = static_cast<uint16_t>(clock.firstLane + at(pipe));
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
  // For a signal the larger part of the wait counts.
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
  if (record.cause == Cause::None && state.last == noRecord)
    record.cause = Cause::Start;
}

/// An event, a barrier, or a slot that is given back.
bool Timer::Engine::synchronise(CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  const Issued &head = *clock.core->head(pipe);
  StepKind kind = head.step->kind;
  Flag flag = head.flag;
  bool leftOut = isLeftOut(siteOf(clock, *head.step));
  Record record;
  record.site = siteOf(clock, *head.step);
  if (options.record)
    explain(clock, pipe, head, record);
  record.end = now_ + (leftOut ? 0 : model_.costs().control.event);
  state.last = actor_ = add(clock, record);
  state.free = record.end;
  state.settled = std::max(state.settled, state.free);
  state.filled = false;
  ++timeline.operations;
  ++clock.group->launch->totalOf(record.site).count;
  noteDone(state, record.site, {1, 0, 0});
  if (!leftOut && !clock.core->startHead(pipe))
    return fail(*clock.group);
  if (!clock.core->endHead(pipe))
    return fail(*clock.group);
  if (kind == StepKind::SetFlag && !leftOut) {
    clock.flagTime[at(flag.source)][at(flag.target)][flag.id] = record.end;
    clock.flagRecord[at(flag.source)][at(flag.target)][flag.id] = state.last;
  }
  return true;
}

OperationCost Timer::Engine::costOf(const CoreClock &clock, Pipe pipe, const Issued &head) const {
  if (options.whatIf.pipe[at(pipe)])
    return {};
  const Queue *queue = nullptr;
  if (head.step->queue >= 0)
    queue = &clock.group->launch->request.kernel->queues[static_cast<size_t>(head.step->queue)];
  OperationCost cost = model_.costOf(head, queue);
  if (options.whatIf.latency)
    cost.tail = 0;
  bool onlyFirst = queue && !queue->toVector && head.step->kind == StepKind::Push &&
                   head.step->split == 0 && clock.core->subBlock() != 0;
  return onlyFirst ? OperationCost{} : cost; // the other vector cores push nothing
}

/// Joins what the cores share, as far as the transfer needs it.
void Timer::Engine::transfer(CoreClock &clock, Pipe pipe, const OperationCost &cost,
                             const Issued &head) {
  PipeClock &state = clock.pipes[at(pipe)];
  const SharedMemoryCost &memory = model_.costs().memory;
  LaunchClock &launch = *clock.group->launch;
  int64_t missed = 0;
  if (cost.view && cost.view->array >= 0)
    missed = second.touch(launch.request.arrays[static_cast<size_t>(cost.view->array)], *cost.view);
  double part = 1; // of those that it stands for, who miss
  if (launch.sharing && missed > 0)
    part = launch.sharing->missing(clock.core->isCube(), head.step, head.ordinal);
  missed = static_cast<int64_t>(static_cast<double>(missed) * part);
  if (cost.writes) // L2 takes it; what becomes of it later is not modelled
    missed = 0;
  launch.bytes += state.bytes = cost.bytes;
  launch.missed += state.missed = missed;
  if (options.whatIf.shared)
    return;
  uint32_t id = clock.number * static_cast<uint32_t>(numPipes) + static_cast<uint32_t>(at(pipe));
  if (missed > 0)
    state.ownEnd += part * memory.missLatency;
  if (memory.l2Rate > 0) {
    ++state.pending;
    l2_.join(now_, id, static_cast<double>(cost.bytes), cost.rate, launch.weight());
  }
  if (missed > 0 && memory.memoryRate > 0) {
    ++state.pending;
    memory_.join(now_, id, static_cast<double>(missed),
                 memory.memoryRateOfCore > 0 ? memory.memoryRateOfCore : cost.rate,
                 launch.weight());
  }
  if (options.record)
    timeline.traffic.push_back({now_, state.ownEnd, cost.bytes, missed});
}

void Timer::Engine::noteBuffers(const CoreClock &clock, const Issued &head, Cycles end) {
  const Step &step = *head.step;
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (const Tile *tile = std::get_if<Tile>(&head.operands[i]); tile && tile->address >= 0)
      timeline.accesses.push_back({now_, end, tile->address, tile->bufferBytes(), tile->place,
                                   clock.core->isCube(),
                                   i >= step.numIns() || step.kind == StepKind::Pop});
}

bool Timer::Engine::begin(CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  const Issued &head = *clock.core->head(pipe);
  OperationCost cost = costOf(clock, pipe, head);
  Record record;
  record.site = siteOf(clock, *head.step);
  if (options.record)
    explain(clock, pipe, head, record);
  state.site = record.site;
  state.started = now_;
  bool follows = state.filled && state.free == now_;
  state.ownEnd = now_ + cost.busy + (follows ? 0 : cost.head);
  state.tail = record.tail = cost.tail;
  state.pending = 0;
  state.bytes = state.missed = 0;
  state.busy = state.works = true;
  state.record = add(clock, record);
  bool isFirst = timeline.lanes[clock.firstLane].number == 0 && clock.core->subBlock() == 0;
  if (state.record != noRecord && isFirst)
    noteBuffers(clock, head, state.ownEnd);
  if (cost.bytes > 0 && cost.rate > 0)
    transfer(clock, pipe, cost, head);
  if (!clock.core->startHead(pipe))
    return fail(*clock.group);
  if (state.pending == 0) {
    Event event{state.ownEnd, 0, EventKind::End};
    event.core = clock.number;
    event.pipe = static_cast<uint8_t>(pipe);
    push(event);
  }
  return true;
}

bool Timer::Engine::end(CoreClock &clock, Pipe pipe) {
  PipeClock &state = clock.pipes[at(pipe)];
  state.busy = false;
  state.filled = true;
  state.free = now_;
  state.settled = now_ + state.tail;
  state.last = actor_ = state.record;
  Cycles stall = now_ - state.ownEnd;
  if (state.record != noRecord) {
    Record &record = timeline.records[state.record];
    record.end = now_;
    record.stall = stall;
  }
  ++timeline.operations;
  noteUse(clock, pipe);
  SiteTotal &total = clock.group->launch->totalOf(state.site);
  ++total.count;
  total.busy += now_ - state.started;
  total.stall += stall;
  noteDone(state, state.site, {1, now_ - state.started, stall});
  state.bytes = state.missed = 0; // what comes next may be no transfer
  return clock.core->endHead(pipe) || fail(*clock.group);
}

} // namespace ptl::rt::sim
