#include "passes/prover/mutation/shuffle.h"

#include "passes/prover/mix.h"
#include "passes/prover/mutation/shuffle_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

namespace ptl::prove {

namespace {

constexpr auto kScalar = static_cast<uint8_t>(Pipe::S);
constexpr auto kVector = static_cast<uint8_t>(Pipe::V);
constexpr auto kAll = static_cast<uint8_t>(Pipe::All);
constexpr size_t kFlags = 8 * 8 * 64; ///< pairs of pipes, ids

/// A small generator whose numbers are the same on all platforms, so that a failing order can be run again.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15ull, 0x5851F42D4C957F2Dull); }
  /// Uniform in [0, 1): the upper 53 bits fill the significand of a double exactly.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state_;
};

/// An instruction between its start and its end.
struct Running {
  uint32_t event;
  uint64_t inputs;
};

struct PipeState {
  std::deque<uint32_t> queued;
  std::vector<Running> running;
};

struct CoreState {
  std::array<PipeState, 8> pipes;
  size_t position = 0;
  std::vector<bool> flags = std::vector<bool>(kFlags);
  std::array<uint32_t, 64> signals = {}, awaits = {}, awaitsIssued = {}; ///< of other cores
  int setFlags = 0;
  uint64_t scalars = 0;                   ///< what the scalar unit has got
  std::map<uint32_t, unsigned> freeParts; ///< pipes that a free still waits for
  std::vector<uint64_t> memory;           ///< atom → value
};

struct QueueState {
  std::vector<std::vector<uint64_t>> pushed; ///< core → values
  std::vector<uint32_t> freed;
};

/// One part of a core that acts by itself: the scalar unit issues, a pipe starts or ends.
struct Agent {
  enum Kind : uint8_t { Issue, Start, End };
  unsigned core;
  uint8_t pipe;
  Kind kind;
  double pause, next = 0; ///< between two acts, about; when it acts next
};

/// The agents of an interleaving, and by numbers of agents, a bit each: those that are not blocked,
/// and those of a core, its scalar unit, a pipe.
struct Agents {
  std::vector<Agent> all;
  uint64_t open = 0;
  uint64_t ofCore[kMaxCores] = {}, ofIssue[kMaxCores] = {}, ofPipe[kMaxCores][8] = {};

  void add(Agent agent) {
    uint64_t bit = uint64_t(1) << all.size();
    open |= bit;
    ofCore[agent.core] |= bit;
    (agent.kind == Agent::Issue ? ofIssue[agent.core] : ofPipe[agent.core][agent.pipe]) |= bit;
    all.push_back(agent);
  }
  /// The one that acts next; `open` is not empty.
  size_t first() const {
    size_t best = static_cast<size_t>(__builtin_ctzll(open));
    for (uint64_t rest = open & (open - 1); rest; rest &= rest - 1) {
      auto other = static_cast<size_t>(__builtin_ctzll(rest));
      if (all[other].next < all[best].next)
        best = other;
    }
    return best;
  }
};

/// One interleaving.
class Run {
public:
  explicit Run(const ShufflePlan &plan)
      : plan_(plan), execution_(plan.execution), cores_(plan.cores.size()),
        queues_(plan.kernel.queues.size()), global_(plan.cells.size()) {
    for (size_t core = 0; core < cores_.size(); ++core)
      cores_[core].memory.resize(plan.cores[core].lengths.size());
    for (QueueState &queue : queues_) {
      queue.pushed.resize(cores_.size());
      queue.freed.resize(cores_.size());
    }
  }

  Outcome shuffle(uint64_t turn);
  Outcome inOrder();

private:
  const Event &event(unsigned core, uint32_t index) const {
    return execution_.cores[core].events[index];
  }
  bool act(const Agent &agent, Random &random);
  bool issue(unsigned core);
  bool tryStart(unsigned core, uint8_t pipe);
  bool tryFinish(unsigned core, uint8_t pipe, size_t which);
  bool tryFinishAny(unsigned core, uint8_t pipe, uint64_t first);
  bool ready(unsigned core, const Event &event) const;
  bool signalled(unsigned core, uint16_t id, uint32_t times) const;
  bool takesPart(unsigned core, const Event &queue, Event::Kind kind) const {
    return plan_.cores[core].takesPart.count({queue.flag, kind}) != 0;
  }
  static bool isSet(const Event &event) {
    return event.kind == Event::Set || event.kind == Event::Signal;
  }
  void applyStart(unsigned core, uint8_t pipe, uint32_t index);
  void applyPushStart(unsigned core, const Event &push, uint64_t value);
  uint64_t readAll(unsigned core, uint32_t index) const;
  uint64_t readAtoms(unsigned core, const ShufflePlan::Touch &touch,
                     const std::vector<bool> *known) const;
  void writeAll(unsigned core, uint32_t index, uint64_t value);
  void writeAtoms(unsigned core, const ShufflePlan::Touch &touch, uint64_t value);
  uint64_t readCell(uint32_t cell) const;
  void writeCell(unsigned core, uint32_t cell, uint64_t value, bool atomic);
  void writeBox(unsigned core, const ShufflePlan::Touch &touch, uint64_t value);
  void applyEnd(unsigned core, uint8_t pipe, Running done);
  Agents agentsOf(uint64_t turn, Random &random) const;
  uint64_t woken(const Agents &agents, const Agent &acted) const;
  Outcome outcome() const;

  const ShufflePlan &plan_;
  const Execution &execution_;
  std::vector<CoreState> cores_;
  std::vector<QueueState> queues_;
  std::vector<std::array<uint64_t, kMaxCores>> global_; ///< cell → what each core wrote there last
  /// The last act may let any pipe of its core go on, any of another core.
  bool reachesOwn_ = false, reachesOthers_ = false;
  uint8_t lastIssued_ = 0; ///< pipe that the last act gave work to
};

} // namespace

// ---- memory -------------------------------------------------------------------------------------

// Runs of equal atoms count as one, so that it does not matter where others cut a memory.
uint64_t Run::readAtoms(unsigned core, const ShufflePlan::Touch &touch,
                        const std::vector<bool> *known) const {
  // What lies outside of the memory is a fault of its own, and has no atoms.
  if (touch.outside)
    return 0;
  const ShufflePlan::CorePlan &plan = plan_.cores[core];
  const std::vector<uint64_t> &memory = cores_[core].memory;
  uint64_t result = 1, last = 0;
  int64_t length = 0;
  size_t index = 0;
  for (uint32_t s = touch.firstSpan; s < touch.lastSpan; ++s)
    for (uint32_t atom = plan.spans[s].begin; atom < plan.spans[s].end; ++atom) {
      uint64_t value = known && !(*known)[index++] ? 0xF0E : memory[atom];
      if (value != last && length) {
        result = mix(result, mix(last, static_cast<uint64_t>(length)));
        length = 0;
      }
      last = value;
      length += plan.lengths[atom];
    }
  return mix(result, mix(last, static_cast<uint64_t>(length)));
}

uint64_t Run::readAll(unsigned core, uint32_t index) const {
  const Event &reader = event(core, index);
  const ShufflePlan::CorePlan &plan = plan_.cores[core];
  const std::vector<bool> *known = nullptr;
  if (reader.kind == Event::Push)
    if (auto found = plan.pushed.find(index); found != plan.pushed.end())
      known = &found->second;
  uint64_t value = 1;
  for (uint32_t a = reader.access; a < reader.access + reader.accesses; ++a) {
    const ShufflePlan::Touch &touch = plan.touches[a];
    if (!touch.reads || touch.atomic)
      continue;
    value = mix(value, touch.global ? readCell(touch.cell) : readAtoms(core, touch, known));
  }
  return value;
}

void Run::writeAtoms(unsigned core, const ShufflePlan::Touch &touch, uint64_t value) {
  const ShufflePlan::CorePlan &plan = plan_.cores[core];
  if (touch.outside)
    return;
  for (uint32_t s = touch.firstSpan; s < touch.lastSpan; ++s)
    std::fill(cores_[core].memory.begin() + plan.spans[s].begin,
              cores_[core].memory.begin() + plan.spans[s].end, value);
}

// Values from before the kernel differ by their addresses.
uint64_t Run::readCell(uint32_t cell) const {
  const GlobalBox &box = plan_.cells[cell];
  uint64_t value = mix(mix(7, box.pointer), static_cast<uint64_t>(box.offset));
  for (uint64_t part : global_[cell])
    value = mix(value, part);
  return value;
}

// Atomics add up in any order. Vector cores write different parts, so that neither hides what the
// other one wrote.
void Run::writeCell(unsigned core, uint32_t cell, uint64_t value, bool atomic) {
  auto &parts = global_[cell];
  if (atomic) {
    parts[core] += value;
    return;
  }
  bool cube = execution_.cores[core].function->cube;
  for (unsigned other = 0; other < cores_.size(); ++other)
    if (other == core || execution_.cores[other].function->cube != cube)
      parts[other] = 0;
  parts[core] = value;
}

// A reader of an overlapping box sees that this one was written.
void Run::writeBox(unsigned core, const ShufflePlan::Touch &touch, uint64_t value) {
  writeCell(core, touch.cell, value, touch.atomic);
  for (uint32_t other : plan_.overlaps[touch.cell])
    // Atomics commute, so what they add must not depend on what stands there.
    writeCell(core, other, mix(touch.atomic ? 0 : global_[other][core], mix(value, touch.cell)),
              touch.atomic);
}

void Run::writeAll(unsigned core, uint32_t index, uint64_t value) {
  const Event &writer = event(core, index);
  for (uint32_t a = writer.access; a < writer.access + writer.accesses; ++a) {
    const ShufflePlan::Touch &touch = plan_.cores[core].touches[a];
    if (!touch.writes)
      continue;
    if (touch.global)
      writeBox(core, touch, value);
    else
      writeAtoms(core, touch, value);
  }
}

// ---- one act ------------------------------------------------------------------------------------

/// Whether all cores of the other kind have signalled an event more often than that.
bool Run::signalled(unsigned core, uint16_t id, uint32_t times) const {
  bool any = false;
  for (unsigned other = 0; other < cores_.size(); ++other)
    if (execution_.cores[other].function->cube != execution_.cores[core].function->cube) {
      any = true;
      if (cores_[other].signals[id] <= times)
        return false;
    }
  return any;
}

bool Run::ready(unsigned core, const Event &event) const {
  if (event.kind == Event::Wait)
    return cores_[core].flags[event.flag];
  if (event.kind == Event::Await)
    return signalled(core, event.flag, cores_[core].awaits[event.flag]);
  if (event.kind != Event::Push && event.kind != Event::Pop)
    return true;
  const QueueState &queue = queues_[event.flag];
  bool any = false;
  for (unsigned other = 0; other < cores_.size(); ++other) {
    if (other == core ||
        !takesPart(other, event, event.kind == Event::Push ? Event::Pop : Event::Push))
      continue;
    any = true;
    if (event.kind == Event::Pop && queue.pushed[other].size() <= event.number)
      return false;
    if (event.kind == Event::Push &&
        event.number >= queue.freed[other] + plan_.kernel.queues[event.flag].producer().slots)
      return false;
  }
  // A pop of a queue to which nobody pushes waits for ever; a push that nobody pops needs no room.
  return any || event.kind == Event::Push;
}

// A push into the consumer's memory writes the slot while it runs; the pop that takes it puts the
// parts of all producers there.
void Run::applyPushStart(unsigned core, const Event &push, uint64_t value) {
  if (plan_.kernel.queues[push.flag].throughGlobal)
    return;
  for (unsigned other = 0; other < cores_.size(); ++other) {
    auto pop = plan_.cores[other].pops.find({push.flag, push.number});
    if (other == core || pop == plan_.cores[other].pops.end())
      continue;
    const Event &popped = event(other, pop->second);
    for (uint32_t a = popped.access; a < popped.access + popped.accesses; ++a)
      writeAtoms(other, plan_.cores[other].touches[a], value);
  }
}

// From the start on the results are neither old nor new.
void Run::applyStart(unsigned core, uint8_t pipe, uint32_t index) {
  const Event &started = event(core, index);
  uint64_t inputs = readAll(core, index);
  if (started.kind == Event::Pop)
    for (unsigned other = 0; other < cores_.size(); ++other)
      // Only the cores that push to this queue have values for it.
      if (queues_[started.flag].pushed[other].size() > started.number)
        inputs = mix(inputs, queues_[started.flag].pushed[other][started.number]);
  // A reader that starts too early takes this value, which no run in order has.
  uint64_t undefined = mix(plan_.identity[started.op], 0xDEAD + index);
  const ShufflePlan::CorePlan &plan = plan_.cores[core];
  for (uint32_t a = started.access; a < started.access + started.accesses; ++a) {
    const ShufflePlan::Touch &touch = plan.touches[a];
    // An instruction in place, or an atomic addition, needs the old contents until its end.
    if (plan.inPlace[index] || !touch.writes || touch.atomic)
      continue;
    if (touch.global)
      writeCell(core, touch.cell, undefined, false);
    else
      writeAtoms(core, touch, undefined);
  }
  if (started.kind == Event::Push)
    applyPushStart(core, started, undefined);
  cores_[core].pipes[pipe].running.push_back({index, inputs});
}

void Run::applyEnd(unsigned core, uint8_t pipe, Running done) {
  const Event &ended = event(core, done.event);
  CoreState &state = cores_[core];
  switch (ended.kind) {
  case Event::Set:
    state.setFlags += !state.flags[ended.flag];
    state.flags[ended.flag] = true;
    reachesOwn_ = true;
    break;
  case Event::Wait:
    state.setFlags -= state.flags[ended.flag];
    state.flags[ended.flag] = false;
    break;
  case Event::Signal:
    ++state.signals[ended.flag];
    reachesOthers_ = true;
    break;
  case Event::Await:
    ++state.awaits[ended.flag];
    break;
  case Event::Free:
    reachesOthers_ = true;
    if (--state.freeParts[done.event] == 0)
      ++queues_[ended.flag].freed[core];
    break;
  case Event::Barrier:
  case Event::Alloc:
    break;
  default: {
    // Inputs that changed meanwhile mean that a writer ran beside it, so the result is poisoned.
    bool changed = ended.kind != Event::Pop && readAll(core, done.event) != done.inputs;
    uint64_t value = mix(plan_.identity[ended.op], mix(done.inputs, changed ? 0xBAD : 0));
    writeAll(core, done.event, value);
    if (ended.kind == Event::Push) {
      reachesOthers_ = true;
      queues_[ended.flag].pushed[core].push_back(value);
    }
    // Scalars steer the program, so what the scalar unit reads belongs to the outcome.
    if (pipe == kScalar)
      state.scalars = mix(state.scalars, value);
  }
  }
}

// Executes the next event of the scalar unit; an event of a pipe is only queued.
bool Run::issue(unsigned core) {
  CoreState &state = cores_[core];
  if (state.position == execution_.cores[core].events.size())
    return false;
  auto index = static_cast<uint32_t>(state.position);
  const Event &next = event(core, index);
  if (next.kind == Event::Alloc) {
    ++state.position;
    return true;
  }
  if (next.kind == Event::Barrier && next.pipe == kAll) {
    for (PipeState &pipe : state.pipes)
      if (!pipe.queued.empty() || !pipe.running.empty())
        return false;
  } else if (next.kind == Event::Free) {
    // Whichever pipes have work before it, at most more than the real readers: a free is never
    // early.
    unsigned parts = 0;
    bool global = plan_.kernel.queues[next.flag].throughGlobal;
    reachesOwn_ = true;
    // Pipe 0 is the scalar unit, and 7 stands for all.
    for (uint8_t pipe = 1; pipe < 7; ++pipe)
      if (pipe == static_cast<uint8_t>(Pipe::MTE2) ||
          (!global && plan_.cores[core].pipes >> pipe & 1)) {
        state.pipes[pipe].queued.push_back(index);
        ++parts;
      }
    state.freeParts[index] = parts;
  } else if (next.pipe == kScalar) {
    if (!ready(core, next))
      return false;
    applyStart(core, kScalar, index);
    Running running = state.pipes[kScalar].running.back();
    state.pipes[kScalar].running.pop_back();
    applyEnd(core, kScalar, running);
  } else {
    if (next.kind == Event::Await &&
        (plan_.kernel.awaitStopsCore && !signalled(core, next.flag, state.awaitsIssued[next.flag])))
      return false;
    state.awaitsIssued[next.flag & 63] += next.kind == Event::Await;
    state.pipes[next.pipe].queued.push_back(index);
    lastIssued_ = next.pipe;
  }
  ++state.position;
  return true;
}

bool Run::tryStart(unsigned core, uint8_t pipe) {
  PipeState &state = cores_[core].pipes[pipe];
  if (state.queued.empty())
    return false;
  const Event &next = event(core, state.queued.front());
  // A vector unit that needs barriers overlaps all but pushes, frees and barriers.
  bool overlaps = plan_.vectorBarrier && pipe == kVector && next.kind != Event::Barrier &&
                  next.kind != Event::Push && next.kind != Event::Free;
  if ((!state.running.empty() && !overlaps) || !ready(core, next))
    return false;
  uint32_t index = state.queued.front();
  state.queued.pop_front();
  applyStart(core, pipe, index);
  // All but operations, pushes and pops ends as it starts, unless a set has to wait for others.
  bool later = isSet(next) && state.running.size() > 1;
  if (next.kind != Event::Operation && next.kind != Event::Push && next.kind != Event::Pop &&
      !later)
    tryFinish(core, pipe, state.running.size() - 1);
  return true;
}

bool Run::tryFinish(unsigned core, uint8_t pipe, size_t which) {
  PipeState &state = cores_[core].pipes[pipe];
  if (which >= state.running.size())
    return false;
  Running done = state.running[which];
  // An event is set when all before it has ended; it does not hold up what comes after.
  if (isSet(event(core, done.event)))
    for (const Running &other : state.running)
      if (other.event < done.event)
        return false;
  state.running.erase(state.running.begin() + static_cast<std::ptrdiff_t>(which));
  applyEnd(core, pipe, done);
  return true;
}

// Ends one running event that may end, trying them from `first` on.
bool Run::tryFinishAny(unsigned core, uint8_t pipe, uint64_t first) {
  size_t count = cores_[core].pipes[pipe].running.size();
  for (size_t i = 0; i < count; ++i)
    if (tryFinish(core, pipe, (first + i) % count))
      return true;
  return false;
}

bool Run::act(const Agent &agent, Random &random) {
  switch (agent.kind) {
  case Agent::Issue:
    return issue(agent.core);
  case Agent::Start:
    return tryStart(agent.core, agent.pipe);
  case Agent::End:
    return tryFinishAny(agent.core, agent.pipe, random.next());
  }
  return false;
}

// ---- all of it ----------------------------------------------------------------------------------

Outcome Run::outcome() const {
  Outcome result;
  for (size_t core = 0; core < cores_.size(); ++core) {
    const CoreState &state = cores_[core];
    result.ended &= state.position == execution_.cores[core].events.size();
    for (const PipeState &pipe : state.pipes)
      result.ended &= pipe.queued.empty() && pipe.running.empty();
    result.clear &= state.setFlags == 0;
    for (size_t other = 0; other < cores_.size(); ++other)
      if (execution_.cores[other].function->cube != execution_.cores[core].function->cube)
        result.clear &= state.signals == cores_[other].awaits;
    result.value = mix(result.value, state.scalars);
  }
  for (const QueueState &queue : queues_) {
    size_t pushes = 0, frees = 0;
    for (unsigned core = 0; core < cores_.size(); ++core) {
      pushes = std::max(pushes, queue.pushed[core].size());
      frees = std::max<size_t>(frees, queue.freed[core]);
    }
    result.clear &= pushes == frees;
  }
  for (uint32_t cell = 0; cell < global_.size(); ++cell)
    result.value = mix(result.value, readCell(cell));
  return result;
}

Agents Run::agentsOf(uint64_t turn, Random &random) const {
  // 1 to 10^exponent, each power as often.
  auto upTo = [&](double exponent) { return std::pow(10, exponent * random.unit()); };
  bool oneIsSlow = turn % 2 != 0;
  Agents agents;
  size_t lane = 0, lanes = plan_.lanes();
  for (unsigned core = 0; core < cores_.size(); ++core) {
    agents.add({core, 0, Agent::Issue, upTo(1)});
    for (uint8_t pipe = 1; pipe < 7; ++pipe) {
      if (!(plan_.cores[core].pipes >> pipe & 1))
        continue;
      bool slow = oneIsSlow && lane++ % lanes == turn / 2 % lanes;
      agents.add({core, pipe, Agent::Start, upTo(oneIsSlow ? 1 : 4)}); // its end is next
      // The slow pipe takes at least ten thousand times as long as the others, so all else
      // overtakes it.
      agents.add({core, pipe, Agent::End, slow ? 1e5 : upTo(oneIsSlow ? 1 : 4)});
    }
  }
  return agents;
}

// The agents that the last action may have unblocked.
uint64_t Run::woken(const Agents &agents, const Agent &acted) const {
  uint64_t bits = reachesOwn_ ? agents.ofCore[acted.core] : 0;
  bits |= agents.ofIssue[acted.core] | agents.ofPipe[acted.core][acted.pipe];
  if (acted.kind == Agent::Issue)
    bits |= agents.ofPipe[acted.core][lastIssued_];
  for (unsigned core = 0; reachesOthers_ && core < cores_.size(); ++core)
    bits |= core == acted.core ? 0 : agents.ofCore[core];
  return bits;
}

Outcome Run::shuffle(uint64_t turn) {
  Random random(turn);
  Agents agents = agentsOf(turn, random);
  double now = 0;
  // This is a discrete-event simulation. An agent that is blocked leaves the open ones until an act
  // of another may have unblocked it (`woken`).
  while (agents.open) {
    size_t number = agents.first();
    Agent &acts = agents.all[number];
    now = std::max(now, acts.next);
    reachesOwn_ = reachesOthers_ = false;
    lastIssued_ = 0;
    if (!act(acts, random)) {
      agents.open &= ~(uint64_t(1) << number);
      continue;
    }
    auto later = [&](double pause) { return now + pause * (0.5 + random.unit()); };
    acts.next = later(acts.pause);
    agents.open |= woken(agents, acts);
    // An instruction takes its time from its start on.
    // With several at once on the vector unit, the end that is planned serves them all.
    if (acts.kind == Agent::Start && cores_[acts.core].pipes[acts.pipe].running.size() == 1) {
      Agent &ends = agents.all[number + 1];
      ends.next = later(ends.pause);
    }
  }
  return outcome();
}

// Every instruction ends before the next is issued; cores go on while they can.
Outcome Run::inOrder() {
  for (bool progress = true; progress;) {
    progress = false;
    for (unsigned core = 0; core < cores_.size(); ++core)
      for (bool more = true; more;) {
        more = false;
        for (uint8_t pipe = 1; pipe < 7; ++pipe)
          while (tryStart(core, pipe) || tryFinish(core, pipe, 0))
            more = true;
        bool busy = false;
        for (uint8_t pipe = 1; pipe < 7; ++pipe)
          busy |= !cores_[core].pipes[pipe].queued.empty();
        more |= !busy && issue(core);
        progress |= more;
      }
  }
  return outcome();
}

Shuffler::Shuffler(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                   const Machine &machine)
    : plan_(std::make_unique<ShufflePlan>(kernel, execution, ranges, machine)) {}
Shuffler::~Shuffler() = default;

Outcome Shuffler::inOrder() const { return Run(*plan_).inOrder(); }
Outcome Shuffler::shuffled(uint64_t turn) const { return Run(*plan_).shuffle(turn); }
size_t Shuffler::lanes() const { return plan_->lanes(); }

} // namespace ptl::prove
