#include "passes/prover/order.h"
#include "passes/prover/flags.h"

#include "machines/machine.h"

#include <deque>
#include <optional>

namespace ptl::prove {

namespace {

constexpr auto kScalar = static_cast<uint8_t>(Pipe::S);
constexpr auto kVector = static_cast<uint8_t>(Pipe::V);
constexpr auto kAll = static_cast<uint8_t>(Pipe::All);
constexpr auto kLoad = static_cast<uint8_t>(Pipe::MTE2);

/// An event that a pipe still has to execute, with what the scalar unit knew to be complete when it
/// issued it.
struct Item {
  uint32_t event, known;
};

struct PipeState {
  Moment now; ///< complete before the next operation starts; `lane`: itself
  uint32_t count = 0, known = 0;
  std::vector<Item> items;
  size_t next = 0;
  bool idle() const { return next == items.size(); }
};

/// One core's share in an event between cores.
struct CrossCore {
  std::vector<Moment> signals;
  std::vector<uint32_t> sent;   ///< the events that signalled
  std::vector<uint32_t> awaits; ///< number of each wait on its pipe, once it is over
  std::vector<uint8_t> pipes;   ///< of the waits
  uint32_t signalTotal = 0, issued = 0;
};

/// One core's share in a queue.
struct QueueCore {
  std::vector<Moment> pushes;
  std::vector<std::optional<Moment>> frees; ///< by number, as far as they are over
  uint32_t given = 0;                       ///< the first so many frees are over
  uint32_t pushTotal = 0, popTotal = 0, freeTotal = 0;
};

struct CoreState {
  PipeState pipes[8];
  std::vector<Moment> scalar; ///< of the scalar unit, one after the other
  size_t position = 0;
  Flags flags;
  std::map<uint16_t, CrossCore> crossing;
  std::vector<QueueCore> queues;
  std::map<uint32_t, uint8_t>
      freeParts; ///< a free through a buffer → pipes that have read its slot
  std::map<uint32_t, std::pair<unsigned, Moment>> freeing;
};

class Simulation {
public:
  Simulation(const Kernel &kernel, const Execution &execution, bool vectorBarrier)
      : kernel_(kernel), execution_(execution), vectorBarrier_(vectorBarrier),
        states_(execution.cores.size()) {}

  Order run();

private:
  const Core &core(uint32_t index) const { return execution_.cores[index]; }
  void prepare(uint32_t index);
  void prepareFrees(uint32_t index);
  bool issue(uint32_t index);
  bool advance(uint32_t index);
  bool runPipe(uint32_t index, uint8_t pipe);
  /// Whether an event can start. What it comes after then is in `awaited_`.
  bool enabled(uint32_t index, const Event &event);
  bool pushEnabled(uint32_t index, const Event &event);
  bool popEnabled(uint32_t index, const Event &event);
  bool awaitEnabled(uint32_t index, const Event &event, uint32_t number);
  void join(Moment &moment, const Moment &other);
  void signal(uint32_t index, uint32_t number, const Moment &done);
  bool others(uint32_t a, uint32_t b) const {
    return core(a).function->cube != core(b).function->cube;
  }
  void execute(uint32_t index, uint8_t pipe, uint32_t number);
  uint32_t guardOf(uint32_t index, uint16_t flag);
  void set(uint32_t index, uint32_t number, const Moment &done);
  void finishFree(uint32_t index, uint32_t number, const Moment &done);
  void record(uint32_t index, uint32_t number, const Moment &start, uint32_t count);
  void judgeStuck();
  void judgeEnd();
  void fault(SyncFault::Kind kind, EventRef first, EventRef second = {}) {
    order_.faults.push_back({kind, first, second});
  }

  const Kernel &kernel_;
  const Execution &execution_;
  bool vectorBarrier_;
  std::vector<CoreState> states_;
  std::vector<Moment> awaited_;
  Order order_;
  uint32_t when_ = 0;
};

} // namespace

// ---- before the run -----------------------------------------------------------------------------

// Finds the pipes that read the slot between a pop and its free, since these give the slot back.
void Simulation::prepareFrees(uint32_t index) {
  CoreState &state = states_[index];
  struct Popped {
    uint32_t buffer, event;
    uint8_t readers;
  };
  // Pops and frees of a queue match in order.
  std::vector<std::deque<Popped>> popped(kernel_.queues.size());
  for (uint32_t i = 0; i < core(index).events.size(); ++i) {
    const Event &event = core(index).events[i];
    if (event.kind == Event::Pop) {
      // The library's TFREE gives the consumer's slots back by the number of the last pop.
      if (!kernel_.queues[event.flag].throughGlobal && popped[event.flag].size() == 1)
        // A second pop before the first free would be given back in its place.
        fault(SyncFault::HeldTwice, {index, i});
      popped[event.flag].push_back({core(index).accesses[event.access].buffer, i, 0});
    } else if (event.kind == Event::Free) {
      // The simulation goes on after a fault, so that others are found in the same run.
      if (popped[event.flag].empty()) {
        fault(SyncFault::ExtraFree, {index, i});
        continue;
      }
      // A slot in global memory is free when the load that popped it is over; one in the consumer's
      // memory when every pipe that uses the tile has come here.
      uint8_t readers = popped[event.flag].front().readers;
      bool global = kernel_.queues[event.flag].throughGlobal;
      state.freeParts[i] = global || !readers ? uint8_t(1 << kLoad) : readers;
      popped[event.flag].pop_front();
    } else if (event.kind == Event::Operation || event.kind == Event::Push) {
      // Any later use of the popped tile, by any pipe, delays the giving back of its slot.
      for (uint32_t a = event.access; a < event.access + event.accesses; ++a)
        for (auto &queue : popped)
          for (Popped &slot : queue)
            if (!core(index).accesses[a].global && core(index).accesses[a].buffer == slot.buffer)
              slot.readers |= uint8_t(1 << event.pipe);
    }
  }
  for (auto &queue : popped)
    if (!queue.empty())
      fault(SyncFault::MissingFree, {index, queue.front().event});
}

void Simulation::prepare(uint32_t index) {
  CoreState &state = states_[index];
  for (uint8_t pipe = 0; pipe < 8; ++pipe)
    state.pipes[pipe].now.lane = static_cast<uint8_t>(index * 8 + pipe);
  // Index 0 is the knowledge at the beginning: nothing is complete.
  state.scalar.emplace_back();
  state.queues.resize(kernel_.queues.size());
  // Most functions have no queues, and then nothing about slots has to be followed.
  bool queues = false;
  for (const Event &event : core(index).events) {
    if (event.kind == Event::Set)
      ++state.flags[event.flag].total;
    else if (event.kind == Event::Signal)
      ++state.crossing[event.flag].signalTotal;
    else if (event.kind == Event::Push)
      ++state.queues[event.flag].pushTotal;
    else if (event.kind == Event::Pop)
      ++state.queues[event.flag].popTotal;
    else if (event.kind == Event::Free)
      ++state.queues[event.flag].freeTotal;
    queues |= event.kind == Event::Pop || event.kind == Event::Free;
  }
  if (queues)
    prepareFrees(index);
  order_.cores.emplace_back();
  order_.cores.back().start.resize(core(index).events.size());
  order_.cores.back().index.resize(core(index).events.size());
  order_.cores.back().when.resize(core(index).events.size());
}

// ---- the run ------------------------------------------------------------------------------------

Order Simulation::run() {
  for (uint32_t i = 0; i < states_.size(); ++i)
    prepare(i);
  // This runs to a fixed point. Each wait names its partner by number, so the clocks do not depend
  // on the order in which cores advance here.
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t i = 0; i < states_.size(); ++i)
      progress |= advance(i);
  }
  for (uint32_t i = 0; i < states_.size(); ++i) {
    order_.finished &= states_[i].position == core(i).events.size();
    for (const PipeState &pipe : states_[i].pipes)
      order_.finished &= pipe.idle();
  }
  if (order_.finished)
    judgeEnd();
  else
    judgeStuck();
  return std::move(order_);
}

bool Simulation::advance(uint32_t index) {
  bool progress = false;
  while (issue(index))
    progress = true;
  for (uint8_t pipe = 0; pipe < 8; ++pipe)
    while (runPipe(index, pipe))
      progress = true;
  return progress;
}

// Makes `moment` the join of both: what is complete at either.
void Simulation::join(Moment &moment, const Moment &other) {
  if (moment.lane != kNoPipe)
    moment.done = std::max(moment.done, order_.complete(other, moment.lane));
  const Clock &own = order_.clocks[moment.clock];
  bool isOther = other.lane != kNoPipe && other.lane != moment.lane;
  if (moment.clock == other.clock && (!isOther || own.at[other.lane] >= other.done))
    return;
  bool later = false;
  for (unsigned lane = 0; lane < kLanes && !later; ++lane)
    later = lane != moment.lane && order_.complete(other, lane) > own.at[lane];
  if (!later)
    return;
  // Clocks are shared and never change, so a new one is made, but only where the other moment knows
  // more.
  Clock joined = own;
  joined.join(order_.clocks[other.clock]);
  if (other.lane != kNoPipe)
    joined.at[other.lane] = std::max(joined.at[other.lane], other.done);
  moment.clock = static_cast<uint32_t>(order_.clocks.size());
  order_.clocks.push_back(joined);
}

// The scalar unit: runs its own events, hands the others to their pipes.
bool Simulation::issue(uint32_t index) {
  CoreState &state = states_[index];
  if (state.position == core(index).events.size())
    return false;
  auto number = static_cast<uint32_t>(state.position);
  const Event &event = core(index).events[number];
  PipeState &scalar = state.pipes[kScalar];
  if (event.kind == Event::Alloc) {
    ++state.position;
    return true;
  }
  if (event.kind == Event::Barrier && event.pipe == kAll) {
    for (const PipeState &pipe : state.pipes)
      if (!pipe.idle())
        return false;
    for (const PipeState &pipe : state.pipes)
      join(scalar.now, {pipe.now.clock, pipe.count, pipe.now.lane});
    record(index, number, scalar.now, ++scalar.count);
  } else if (event.kind == Event::Free) {
    auto parts = state.freeParts.find(number);
    if (parts != state.freeParts.end()) {
      state.freeing[number] = {static_cast<unsigned>(__builtin_popcount(parts->second)), {}};
      for (uint8_t pipe = 0; pipe < 8; ++pipe)
        if (pipe != kScalar && parts->second >> pipe & 1)
          state.pipes[pipe].items.push_back(
              {number, static_cast<uint32_t>(state.scalar.size() - 1)});
      if (parts->second >> kScalar & 1) // what the scalar unit read it has read when it is here
        finishFree(index, number, {scalar.now.clock, scalar.count, scalar.now.lane});
    }
    ++state.position;
    return true;
  } else if (event.pipe == kScalar) {
    if (!enabled(index, event))
      return false;
    execute(index, kScalar, number);
  } else {
    if (event.kind == Event::Await) {
      CrossCore &crossing = state.crossing[event.flag];
      // On such machines the scalar unit waits itself, so nothing behind the wait is issued before.
      if (kernel_.awaitStopsCore && !awaitEnabled(index, event, crossing.issued))
        return false;
      ++crossing.issued;
    }
    state.pipes[event.pipe].items.push_back(
        {number, static_cast<uint32_t>(state.scalar.size() - 1)});
    ++state.position;
    return true;
  }
  // Operations that are issued from here on start after everything that the scalar unit knows now.
  state.scalar.push_back(scalar.now);
  ++state.position;
  return true;
}

bool Simulation::runPipe(uint32_t index, uint8_t pipe) {
  PipeState &state = states_[index].pipes[pipe];
  if (state.idle() || pipe == kScalar)
    return false;
  Item item = state.items[state.next];
  if (!enabled(index, core(index).events[item.event]))
    return false;
  // The scalar unit issued the operation after these events, so it starts after them. Items that were issued with the same knowledge need
  // one join only.
  if (item.known != state.known)
    join(state.now, states_[index].scalar[item.known]);
  state.known = item.known;
  ++state.next;
  execute(index, pipe, item.event);
  return true;
}

bool Simulation::enabled(uint32_t index, const Event &event) {
  awaited_.clear();
  if (event.kind == Event::Wait) {
    Flag &flag = states_[index].flags[event.flag];
    // The k-th wait on a flag takes the k-th set, which has not been executed yet.
    if (flag.waits == flag.signals.size())
      return false;
    awaited_.push_back(flag.signals[flag.waits].done);
    return true;
  }
  if (event.kind == Event::Await)
    return awaitEnabled(index, event,
                        static_cast<uint32_t>(states_[index].crossing[event.flag].awaits.size()));
  if (event.kind == Event::Push)
    return pushEnabled(index, event);
  if (event.kind == Event::Pop)
    return popEnabled(index, event);
  return true;
}

// A push waits until every consumer has told that the slot which it takes again is free. Slots are
// given back in their order, also where one that nobody read is free before others. What comes
// with that, of slots that it does not need, is how the library does it and orders nothing.
bool Simulation::pushEnabled(uint32_t index, const Event &event) {
  const Queue &queue = kernel_.queues[event.flag];
  int64_t slots = std::max<int64_t>(1, queue.producer().slots);
  // The push number n takes the slot of push n - slots again.
  int64_t needed = static_cast<int64_t>(event.number) - slots;
  if (needed < 0)
    return true;
  // The consumer tells of free slots in batches, so the producer waits for the whole batch.
  int64_t atOnce = freedAtOnce(slots), told = (needed / atOnce + 1) * atOnce;
  for (uint32_t i = 0; i < states_.size(); ++i) {
    const QueueCore &share = states_[i].queues[event.flag];
    if (i == index || (!share.popTotal && !share.freeTotal))
      continue;
    if (share.given < told)
      return false;
    awaited_.push_back(*share.frees[static_cast<size_t>(needed)]);
  }
  return true;
}

bool Simulation::popEnabled(uint32_t index, const Event &event) {
  bool any = false;
  for (uint32_t i = 0; i < states_.size(); ++i) {
    const QueueCore &share = states_[i].queues[event.flag];
    if (i == index || !share.pushTotal)
      continue;
    if (share.pushes.size() <= event.number)
      return false;
    awaited_.push_back(share.pushes[event.number]);
    any = true;
  }
  return any;
}

// The wait `number` of an event comes after that signal of every core of the other kind.
bool Simulation::awaitEnabled(uint32_t index, const Event &event, uint32_t number) {
  bool any = false;
  for (uint32_t i = 0; i < states_.size(); ++i) {
    if (!others(i, index))
      continue;
    const CrossCore &share = states_[i].crossing[event.flag];
    // The signal with this number has not been sent yet, so the wait cannot be over.
    if (share.signals.size() <= number)
      return false;
    awaited_.push_back(share.signals[number]);
    any = true;
  }
  return any;
}

// It counts up to a limit: by then the first waits must be known to be over.
void Simulation::signal(uint32_t index, uint32_t number, const Moment &done) {
  const Event &event = core(index).events[number];
  CrossCore &own = states_[index].crossing[event.flag];
  auto before = static_cast<int64_t>(own.signals.size()) - kernel_.crossCount;
  for (uint32_t i = 0; kernel_.crossCount && before >= 0 && i < states_.size(); ++i) {
    if (!others(i, index))
      continue;
    const CrossCore &share = states_[i].crossing[event.flag];
    auto wait = static_cast<size_t>(before);
    // The counter overflows unless the signaller knows that the wait so long ago is over.
    if (wait >= share.awaits.size() ||
        order_.complete(done, i * 8 + share.pipes[wait]) < share.awaits[wait]) {
      fault(SyncFault::BeyondCount, {index, number}, {index, own.sent[wait]});
      break;
    }
  }
  own.signals.push_back(done);
  own.sent.push_back(number);
}

void Simulation::record(uint32_t index, uint32_t number, const Moment &start, uint32_t count) {
  Order::Lane &lane = order_.cores[index];
  lane.start[number] = start;
  lane.index[number] = count;
  lane.when[number] = when_++;
}

// On a pipe in order an event completes before the next starts; the vector unit of some machines
// overlaps its instructions, so there only what a barrier or an event says is complete. An event is
// set once all before it is complete.
void Simulation::execute(uint32_t index, uint8_t pipe, uint32_t number) {
  CoreState &state = states_[index];
  PipeState &lane = state.pipes[pipe];
  const Event &event = core(index).events[number];
  for (const Moment &each : awaited_)
    join(lane.now, each);
  bool isSet = event.kind == Event::Set || event.kind == Event::Signal;
  Moment start = lane.now;
  if (isSet)
    start.done = lane.count;
  Moment done = {lane.now.clock, ++lane.count, lane.now.lane};
  // On a vector pipe that overlaps only a barrier makes earlier instructions complete.
  if (event.kind == Event::Barrier || !vectorBarrier_ || pipe != kVector)
    lane.now.done = lane.count;
  record(index, number, start, lane.count);
  if (isSet) {
    event.kind == Event::Set ? set(index, number, done) : signal(index, number, done);
  } else if (event.kind == Event::Await) {
    CrossCore &share = state.crossing[event.flag];
    share.awaits.push_back(lane.count);
    share.pipes.push_back(pipe);
  } else if (event.kind == Event::Wait) {
    Flag &flag = state.flags[event.flag];
    flag.signals[flag.waits++].waitIndex = lane.count;
  } else if (event.kind == Event::Push) {
    state.queues[event.flag].pushes.push_back(done);
  } else if (event.kind == Event::Free) {
    finishFree(index, number, done);
  }
}

// How far the waiting pipe was when the instruction that sets this event had the setter wait for it.
// That holds in the forms that have no such events too, since these set nothing.
uint32_t Simulation::guardOf(uint32_t index, uint16_t flag) {
  unsigned source = flag / 64 / 8, destination = flag / 64 % 8;
  auto guard = static_cast<uint16_t>((destination * 8 + source) * 64 + flag % 64);
  const auto &signals = states_[index].flags[guard].signals;
  return signals.empty() ? 0 : order_.cores[index].index[signals.back().event];
}

void Simulation::set(uint32_t index, uint32_t number, const Moment &done) {
  const Event &event = core(index).events[number];
  uint32_t guard = event.guarded ? guardOf(index, event.flag) : 0;
  Flag &flag = states_[index].flags[event.flag];
  // A flag is (source * 8 + destination) * 64 + id.
  unsigned destination = event.flag / 64 % 8;
  if (!flag.signals.empty()) {
    const Flag::Signal &last = flag.signals.back();
    uint32_t known = std::max(guard, order_.complete(done, index * 8 + destination));
    // An event is one bit, so the setter must know that the wait for the last signal is over.
    if (!last.waitIndex || known < last.waitIndex)
      fault(SyncFault::SetTwice, {index, number}, {index, last.event});
  }
  // An event that may not take place lets the wait pass, but orders nothing.
  flag.signals.push_back({event.orders ? done : Moment(), number});
}

void Simulation::finishFree(uint32_t index, uint32_t number, const Moment &done) {
  CoreState &state = states_[index];
  auto &[parts, all] = state.freeing[number];
  // The slot is free when all its readers are done, so the moments of all parts are joined.
  join(all, done);
  if (--parts > 0)
    return;
  const Event &event = core(index).events[number];
  QueueCore &share = state.queues[event.flag];
  if (share.frees.size() <= event.number)
    share.frees.resize(event.number + 1);
  share.frees[event.number] = all;
  // Slots are given back in their order: one that is free early waits for those before it.
  while (share.given < share.frees.size() && share.frees[share.given])
    ++share.given;
}

// ---- what went wrong ----------------------------------------------------------------------------

// Reports events that are stuck for a reason of their own, because the partner never comes. Events
// that wait for these are only consequences; if there is no event of the first kind, they wait for
// each other.
void Simulation::judgeStuck() {
  std::vector<EventRef> stuck;
  size_t before = order_.faults.size();
  auto judge = [&](uint32_t index, uint32_t number) {
    const Event &event = core(index).events[number];
    stuck.push_back({index, number});
    CoreState &state = states_[index];
    if (event.kind == Event::Wait && state.flags[event.flag].total <= state.flags[event.flag].waits)
      fault(SyncFault::NeverSet, {index, number});
    if (event.kind == Event::Await) {
      bool comes = false;
      for (uint32_t i = 0; i < states_.size(); ++i)
        if (others(i, index)) {
          comes = states_[i].crossing[event.flag].signalTotal >
                  state.crossing[event.flag].awaits.size();
          if (!comes)
            break;
        }
      if (!comes)
        fault(SyncFault::NeverSet, {index, number});
    }
    uint32_t pushes = kNone, frees = kNone;
    for (uint32_t i = 0; i < states_.size(); ++i) {
      if (i == index || (event.kind != Event::Push && event.kind != Event::Pop))
        continue;
      const QueueCore &share = states_[i].queues[event.flag];
      if (share.pushTotal)
        pushes = std::min(pushes, share.pushTotal);
      if (share.popTotal)
        frees = std::min(frees, share.freeTotal);
    }
    // The producers never reach this number, so the pop waits for ever.
    if (event.kind == Event::Pop && (pushes == kNone || pushes <= event.number))
      fault(SyncFault::PopWithoutPush, {index, number});
    if (event.kind == Event::Push && frees != kNone &&
        static_cast<int64_t>(frees) <= event.number - kernel_.queues[event.flag].producer().slots)
      fault(SyncFault::PushWithoutFree, {index, number});
  };
  for (uint32_t i = 0; i < states_.size(); ++i) {
    for (const PipeState &pipe : states_[i].pipes)
      if (!pipe.idle())
        judge(i, pipe.items[pipe.next].event);
    if (states_[i].position < core(i).events.size())
      judge(i, static_cast<uint32_t>(states_[i].position));
  }
  // Every partner exists, so those that are stuck wait for each other.
  if (order_.faults.size() == before && stuck.size() > 1)
    fault(SyncFault::Deadlock, stuck[0], stuck[1]);
  else if (order_.faults.size() == before && !stuck.empty())
    fault(SyncFault::Deadlock, stuck[0]);
}

void Simulation::judgeEnd() {
  for (uint32_t i = 0; i < states_.size(); ++i) {
    for (const auto &[number, flag] : states_[i].flags.sorted())
      // A flag that stays set would let a wait of the next kernel pass at once.
      if (flag.waits < flag.signals.size())
        fault(SyncFault::LeftSet, {i, flag.signals.back().event});
    for (auto &[id, share] : states_[i].crossing)
      for (uint32_t other = 0; other < states_.size() && !share.sent.empty(); ++other)
        if (others(i, other) && states_[other].crossing[id].awaits.size() < share.sent.size()) {
          fault(SyncFault::LeftSet, {i, share.sent.back()});
          break;
        }
    for (size_t q = 0; q < kernel_.queues.size(); ++q) {
      uint32_t pushed = states_[i].queues[q].pushTotal, popped = kNone;
      if (!pushed)
        continue;
      for (uint32_t other = 0; other < states_.size(); ++other)
        if (other != i && core(other).function->cube != core(i).function->cube)
          popped = std::min(popped == kNone ? pushed : popped, states_[other].queues[q].popTotal);
      for (uint32_t e = 0; e < core(i).events.size(); ++e) {
        const Event &event = core(i).events[e];
        if (event.kind == Event::Push && event.flag == q &&
            (popped == kNone || event.number >= popped)) {
          fault(SyncFault::LeftInQueue, {i, e});
          break;
        }
      }
    }
  }
}

Order orderOf(const Kernel &kernel, const Execution &execution, bool vectorBarrier) {
  return Simulation(kernel, execution, vectorBarrier).run();
}

} // namespace ptl::prove
