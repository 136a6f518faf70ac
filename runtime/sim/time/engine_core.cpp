// Cores in time: the scalar unit runs ahead of its pipes, which take their operations in order.
#include "runtime/sim/time/engine_core.h"
#include "runtime/sim/time/engine_pipe.h"
#include "runtime/sim/time/engine_sample.h"

namespace ptl::rt::sim {

static Cause causeOfScalar(const Step &step) {
  if (step.kind == StepKind::WaitFlag || step.kind == StepKind::WaitCores)
    return Cause::Event;
  return step.kind == StepKind::Barrier ? Cause::Barrier : Cause::Room;
}

/// The record of the scalar unit's wait before a step.
static Record scalarWait(const Engine &e, const CoreClock &clock, const Step &step) {
  Record record;
  record.ready = clock.scalar;
  record.start = record.end = e.now;
  record.site = e.siteOf(clock, step);
  record.before = clock.scalarRecord;
  record.waitedFor = e.actor;
  record.lane = static_cast<uint16_t>(clock.firstLane);
  record.cause = causeOfScalar(step);
  if (record.cause != Cause::Event)
    return record;
  Flag flag = clock.core->flagOf(step);
  if (step.kind == StepKind::WaitFlag) {
    // A flag whose id is not known has no record.
    if (flag.id >= 0)
      record.waitedFor = clock.flagRecord[at(flag.source)][at(flag.target)][flag.id];
    return record;
  }
  const GroupClock::Arrival &signal = clock.group->events[static_cast<size_t>(flag.id)];
  record.waitedFor = signal.record;
  record.queued = std::min(signal.queued, e.now - clock.scalar);
  // If most of the wait was spent in the hub, the hub is the cause.
  if (2 * record.queued > e.now - clock.scalar)
    record.cause = Cause::Signals;
  return record;
}

/// A barrier of all pipes continues when the results of all of them are visible.
static void awaitResults(Engine &e, CoreClock &clock, uint32_t site) {
  const PipeClock *latest = nullptr;
  for (const PipeClock &pipe : clock.pipes)
    // The barrier waits for the latest pipe.
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
  clock.scalarRecord = e.addRecord(clock, record);
}

static Cycles timeOf(const ScalarWork &work, const ControlCost &control) {
  // Memory accesses of the scalar unit take longer than issuing.
  return static_cast<Cycles>(work.plain) * control.scalar +
         static_cast<Cycles>(work.issues) * control.issue +
         static_cast<Cycles>(work.accesses) * control.scalarLoad;
}

static bool takeScalarStep(Engine &e, CoreClock &clock) {
  Core &core = *clock.core;
  const Step &step = core.nextStep();
  const ControlCost &control = e.model.costs().control;
  bool free = e.options.whatIf.scalar;
  const ScalarWork own = workOfStep(step);
  Cycles cost = timeOf(own, control);
  // The barrier itself is issued only when all results are visible.
  if (step.kind == StepKind::Barrier && step.flag.source == Pipe::All)
    awaitResults(e, clock, e.siteOf(clock, step));
  clock.scalar += free ? 0 : cost;
  clock.scalarBusy += free ? 0 : cost;
  core.setClock(clock.scalar, clock.scalarRecord);
  const ScalarWork before = core.scalarWork();
  StepKind kind = step.kind;
  Flag flag = step.flag;
  if (!core.advance(Pipe::S))
    return e.fail(*clock.group);
  // Events of the scalar unit are not queued, so their time is known at once.
  if (kind == StepKind::SetFlag && flag.source == Pipe::S && flag.id >= 0 && flag.id < 16) {
    clock.flagTime[at(flag.source)][at(flag.target)][flag.id] = clock.scalar;
    clock.flagRecord[at(flag.source)][at(flag.target)][flag.id] = clock.scalarRecord;
  }
  // The scalar computations in between take time as well, and the iterations that others represent.
  if (!free) {
    Cycles work = timeOf(core.scalarWork() - before - own, control);
    clock.scalar += work;
    clock.scalarBusy += work;
  }
  if (e.options.sample || e.options.paces)
    takeScalarMarks(e, clock);
  return true;
}

static bool progressScalar(Engine &e, CoreClock &clock) {
  bool any = false;
  Core &core = *clock.core;
  for (;;) {
    Readiness state = core.readiness(Pipe::S);
    if (state == Readiness::Idle)
      return any;
    if (state == Readiness::Waiting) {
      clock.scalarWaits = true;
      return any;
    }
    const Step &step = core.nextStep();
    // A wait that took no time gets no record.
    if (clock.scalarWaits && e.now > clock.scalar) {
      clock.scalarRecord = e.addRecord(clock, scalarWait(e, clock, step));
      clock.scalar = e.now;
    }
    clock.scalarWaits = false;
    if (!takeScalarStep(e, clock))
      return false;
    any = true;
  }
}

bool progress(Engine &e, CoreClock &clock) {
  // The scalar unit may wait for room in a pipe's queue or for an event of a pipe, and a pipe for
  // the next operation, so both are tried until neither advances.
  bool any = clock.begun;
  while (any) {
    any = progressScalar(e, clock);
    // Pipe 0 is the scalar unit.
    for (size_t i = 1; i < kNumPipes && !e.failed; ++i)
      any |= progressPipe(e, clock, static_cast<Pipe>(i));
    if (e.failed)
      return false;
  }
  return true;
}

} // namespace ptl::rt::sim
