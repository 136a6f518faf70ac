#include "passes/prover/shuffle.h"

#include "passes/prover/findings.h"

#include "mlir/IR/Operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <random>
#include <set>

namespace ptl::prove {

namespace {

constexpr int64_t kGranule = 32; ///< bytes that have one value
constexpr auto kScalar = static_cast<uint8_t>(Pipe::S);
constexpr auto kVector = static_cast<uint8_t>(Pipe::V);
constexpr auto kAll = static_cast<uint8_t>(Pipe::All);

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2))) * 0xD6E8FEB86659FD93ull;
  return x ^ (x >> 32);
}

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
  std::map<uint16_t, bool> flags;
  std::map<uint32_t, unsigned> freeParts;           ///< pipes that a free still waits for
  std::map<uint32_t, std::vector<uint64_t>> memory; ///< place → values
};

struct QueueState {
  std::vector<std::vector<uint64_t>> pushed; ///< core → values
  std::vector<uint32_t> popped, freed;
};

class Shuffler {
public:
  Shuffler(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
           bool vectorBarrier)
      : kernel_(kernel), execution_(execution), ranges_(ranges), vectorBarrier_(vectorBarrier),
        cores_(execution.cores.size()), queues_(kernel.queues.size()) {
    for (QueueState &queue : queues_) {
      queue.pushed.resize(cores_.size());
      queue.popped.resize(cores_.size());
      queue.freed.resize(cores_.size());
    }
    identify();
    for (unsigned core = 0; core < cores_.size(); ++core)
      findPushed(core);
    for (const Core &core : execution.cores) {
      takesPart_.emplace_back();
      for (const Event &event : core.events)
        if (event.kind == Event::Push || event.kind == Event::Pop)
          takesPart_.back().insert({event.flag, event.kind});
    }
  }

  Outcome shuffle(uint64_t seed);
  Outcome inOrder();

private:
  const Event &event(unsigned core, uint32_t index) const {
    return execution_.cores[core].events[index];
  }
  void identify();
  void findPushed(unsigned core);
  bool issue(unsigned core);
  bool start(unsigned core, uint8_t pipe);
  bool finish(unsigned core, uint8_t pipe, size_t which);
  bool finishAny(unsigned core, uint8_t pipe, uint64_t first);
  bool ready(unsigned core, const Event &event) const;
  bool takesPart(unsigned core, const Event &queue, Event::Kind kind) const;
  void begin(unsigned core, uint8_t pipe, uint32_t index);
  uint64_t readAll(unsigned core, const Event &event);
  void writeAll(unsigned core, const Event &event, uint64_t value);
  void end(unsigned core, uint8_t pipe, Running done);
  template <typename Visit> void granules(unsigned core, const Access &access, Visit visit);
  Outcome outcome() const;

  const Kernel &kernel_;
  const Execution &execution_;
  const RangeTable &ranges_;
  bool vectorBarrier_;
  std::vector<CoreState> cores_;
  std::vector<QueueState> queues_;
  std::vector<uint64_t> identity_; ///< of operations: the same in a module and its mutants
  std::vector<std::set<std::pair<uint16_t, Event::Kind>>> takesPart_; ///< core → queues, as what
  /// Core and push → which of its granules have a value: slots are pushed whole, whatever their
  /// valid part.
  std::map<std::pair<unsigned, uint32_t>, std::vector<bool>> pushed_;
  std::map<std::array<int64_t, 3>, uint64_t> global_;
  uint64_t scalars_ = 0;
};

} // namespace

// The n-th operation of its kind is the same in a mutant.
void Shuffler::identify() {
  std::map<std::string, uint64_t> count;
  for (mlir::Operation *op : kernel_.operations) {
    std::string name = mnemonic(op);
    identity_.push_back(mix(std::hash<std::string>()(name), count[name]++));
  }
}

template <typename Visit>
void Shuffler::granules(unsigned core, const Access &access, Visit visit) {
  auto &memory = cores_[core].memory[access.place];
  for (const ByteRange &range : ranges_[access.bytes]) {
    int64_t first = (access.base + range.begin) / kGranule,
            last = (access.base + range.end - 1) / kGranule;
    if (first < 0 || last > (int64_t(1) << 20))
      continue;
    if (memory.size() <= static_cast<size_t>(last))
      memory.resize(static_cast<size_t>(last) + 1);
    for (int64_t i = first; i <= last; ++i)
      visit(memory[static_cast<size_t>(i)]);
  }
}

// In program order: a granule has a value if the buffer that is pushed wrote it last, since its
// allocation.
void Shuffler::findPushed(unsigned core) {
  const Core &trace = execution_.cores[core];
  bool any = false;
  for (const Event &event : trace.events)
    any |= event.kind == Event::Push;
  if (!any)
    return;
  struct Written {
    uint32_t buffer = kNone, event = 0;
  };
  std::map<uint8_t, std::vector<Written>> written; // place → granules
  std::map<uint32_t, uint32_t> allocated;
  // Once for the size of the memories, so that granules stay where they are.
  for (const Access &access : trace.accesses)
    if (!access.global)
      granules(core, access, [](uint64_t &) {});
  for (auto &[place, memory] : cores_[core].memory)
    written[static_cast<uint8_t>(place)].resize(memory.size());
  for (uint32_t i = 0; i < trace.events.size(); ++i) {
    const Event &event = trace.events[i];
    if (event.kind == Event::Alloc)
      allocated[event.number] = i;
    for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
      const Access &access = trace.accesses[a];
      bool pushes = event.kind == Event::Push;
      if (access.global || (!pushes && !access.writes && !access.scratch))
        continue;
      auto &states = written[access.place];
      const uint64_t *first = cores_[core].memory[access.place].data();
      std::vector<bool> *known = pushes ? &pushed_[{core, i}] : nullptr;
      uint32_t since = allocated[access.buffer];
      granules(core, access, [&](uint64_t &granule) {
        Written &state = states[static_cast<size_t>(&granule - first)];
        if (known)
          known->push_back(state.buffer == access.buffer && state.event >= since);
        else
          state = {access.buffer, i};
      });
    }
  }
}

static std::array<int64_t, 3> boxKey(const GlobalBox &box) {
  int64_t sizes = 0;
  for (unsigned i = 0; i < box.rank; ++i)
    sizes = sizes * 4099 + box.axes[i].size;
  return {box.pointer, box.offset, sizes};
}

uint64_t Shuffler::readAll(unsigned core, const Event &event) {
  uint64_t value = 1;
  const Core &trace = execution_.cores[core];
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = trace.accesses[a];
    if (!access.reads || access.scratch)
      continue;
    if (access.global) {
      auto found = global_.find(boxKey(execution_.boxes[access.bytes]));
      auto key = boxKey(execution_.boxes[access.bytes]);
      value = mix(value, found == global_.end() ? mix(mix(7, static_cast<uint64_t>(key[0])),
                                                      static_cast<uint64_t>(key[1]))
                                                : found->second);
    } else {
      auto known = pushed_.find({core, static_cast<uint32_t>(&event - trace.events.data())});
      size_t index = 0;
      granules(core, access, [&](uint64_t &granule) {
        value = mix(value, known == pushed_.end() || known->second[index++] ? granule : 0xF0E);
      });
    }
  }
  return value;
}

void Shuffler::writeAll(unsigned core, const Event &event, uint64_t value) {
  const Core &trace = execution_.cores[core];
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = trace.accesses[a];
    if (!access.writes && !access.scratch)
      continue;
    if (access.global)
      global_[boxKey(execution_.boxes[access.bytes])] = value;
    else
      granules(core, access, [&](uint64_t &granule) { granule = value; });
  }
}

bool Shuffler::takesPart(unsigned core, const Event &queue, Event::Kind kind) const {
  return takesPart_[core].count({queue.flag, kind}) != 0;
}

bool Shuffler::ready(unsigned core, const Event &event) const {
  if (event.kind == Event::Wait) {
    auto flag = cores_[core].flags.find(event.flag);
    return flag != cores_[core].flags.end() && flag->second;
  }
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
        event.number >= queue.freed[other] + kernel_.queues[event.flag].producer().slots)
      return false;
  }
  return any || event.kind == Event::Push;
}

// From the start on the results are neither old nor new.
void Shuffler::begin(unsigned core, uint8_t pipe, uint32_t index) {
  const Event &started = event(core, index);
  uint64_t inputs = readAll(core, started);
  if (started.kind == Event::Pop)
    for (unsigned other = 0; other < cores_.size(); ++other)
      if (queues_[started.flag].pushed[other].size() > started.number)
        inputs = mix(inputs, queues_[started.flag].pushed[other][started.number]);
  bool inPlace = false;
  for (uint32_t a = 0; a < started.accesses; ++a)
    inPlace |= execution_.cores[core].accesses[started.access + a].reads;
  if (!inPlace)
    writeAll(core, started, mix(identity_[started.op], 0xDEAD + index));
  cores_[core].pipes[pipe].running.push_back({index, inputs});
}

void Shuffler::end(unsigned core, uint8_t pipe, Running done) {
  const Event &ended = event(core, done.event);
  CoreState &state = cores_[core];
  switch (ended.kind) {
  case Event::Set:
    state.flags[ended.flag] = true;
    break;
  case Event::Wait:
    state.flags[ended.flag] = false;
    break;
  case Event::Free:
    if (--state.freeParts[done.event] == 0)
      ++queues_[ended.flag].freed[core];
    break;
  case Event::Barrier:
  case Event::Alloc:
    break;
  default: {
    bool changed = ended.kind != Event::Pop && readAll(core, ended) != done.inputs;
    uint64_t value = mix(identity_[ended.op], mix(done.inputs, changed ? 0xBAD : core));
    writeAll(core, ended, value);
    if (ended.kind == Event::Push)
      queues_[ended.flag].pushed[core].push_back(value);
    if (pipe == kScalar)
      scalars_ = mix(scalars_, value);
  }
  }
}

// What the scalar unit does next; what runs on pipes is only queued.
bool Shuffler::issue(unsigned core) {
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
    bool global = kernel_.queues[next.flag].throughGlobal;
    for (uint8_t pipe = 1; pipe < 7; ++pipe)
      if (!global || pipe == static_cast<uint8_t>(Pipe::MTE2)) {
        state.pipes[pipe].queued.push_back(index);
        ++parts;
      }
    state.freeParts[index] = parts;
  } else if (next.pipe == kScalar) {
    if (!ready(core, next))
      return false;
    begin(core, kScalar, index);
    Running running = state.pipes[kScalar].running.back();
    state.pipes[kScalar].running.pop_back();
    end(core, kScalar, running);
  } else {
    state.pipes[next.pipe].queued.push_back(index);
  }
  ++state.position;
  return true;
}

bool Shuffler::start(unsigned core, uint8_t pipe) {
  PipeState &state = cores_[core].pipes[pipe];
  if (state.queued.empty())
    return false;
  const Event &next = event(core, state.queued.front());
  bool overlaps = vectorBarrier_ && pipe == kVector && next.kind != Event::Barrier &&
                  next.kind != Event::Push && next.kind != Event::Free;
  if ((!state.running.empty() && !overlaps) || !ready(core, next))
    return false;
  uint32_t index = state.queued.front();
  state.queued.pop_front();
  begin(core, pipe, index);
  bool later = next.kind == Event::Set && state.running.size() > 1;
  if (next.kind != Event::Operation && next.kind != Event::Push && next.kind != Event::Pop &&
      !later)
    finish(core, pipe, state.running.size() - 1);
  return true;
}

bool Shuffler::finish(unsigned core, uint8_t pipe, size_t which) {
  PipeState &state = cores_[core].pipes[pipe];
  if (which >= state.running.size())
    return false;
  Running done = state.running[which];
  // An event is set when all before it has ended; it does not hold up what comes after.
  if (event(core, done.event).kind == Event::Set)
    for (const Running &other : state.running)
      if (other.event < done.event)
        return false;
  state.running.erase(state.running.begin() + static_cast<std::ptrdiff_t>(which));
  end(core, pipe, done);
  return true;
}

// One that may end, beginning with any.
bool Shuffler::finishAny(unsigned core, uint8_t pipe, uint64_t first) {
  size_t count = cores_[core].pipes[pipe].running.size();
  for (size_t i = 0; i < count; ++i)
    if (finish(core, pipe, (first + i) % count))
      return true;
  return false;
}

Outcome Shuffler::outcome() const {
  Outcome result;
  for (const CoreState &core : cores_) {
    result.ended &=
        core.position == execution_.cores[static_cast<size_t>(&core - cores_.data())].events.size();
    for (const PipeState &pipe : core.pipes)
      result.ended &= pipe.queued.empty() && pipe.running.empty();
    for (auto &[id, set] : core.flags)
      result.clear &= !set;
  }
  for (size_t q = 0; q < queues_.size(); ++q) {
    size_t pushes = 0, frees = 0;
    for (unsigned core = 0; core < cores_.size(); ++core) {
      pushes = std::max(pushes, queues_[q].pushed[core].size());
      frees = std::max<size_t>(frees, queues_[q].freed[core]);
    }
    result.clear &= pushes == frees;
  }
  result.value = scalars_;
  for (auto &[key, value] : global_)
    result.value = mix(result.value, mix(static_cast<uint64_t>(key[0] * 31 + key[1]), value));
  return result;
}

Outcome Shuffler::shuffle(uint64_t seed) {
  std::mt19937_64 random(seed);
  struct Action {
    unsigned core;
    uint8_t pipe, kind; ///< 0 issue, 1 start, 2 end
    double speed;
  };
  std::vector<Action> actions;
  auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (unsigned core = 0; core < cores_.size(); ++core) {
    actions.push_back({core, 0, 0, std::pow(10, -unit())});
    for (uint8_t pipe = 1; pipe < 7; ++pipe) {
      actions.push_back({core, pipe, 1, std::pow(10, -4 * unit())});
      actions.push_back({core, pipe, 2, std::pow(10, -4 * unit())});
    }
  }
  unsigned idle = 0;
  for (size_t turn = 0; idle < 2; ++turn) {
    bool progress = false, slept = false;
    std::shuffle(actions.begin(), actions.end(), random);
    for (const Action &action : actions) {
      if (idle == 0 && unit() > action.speed) {
        slept = true;
        continue;
      }
      progress |= action.kind == 0   ? issue(action.core)
                  : action.kind == 1 ? start(action.core, action.pipe)
                                     : finishAny(action.core, action.pipe, random());
    }
    idle = progress || (slept && idle == 0 && turn % 48 != 47) ? 0 : idle + 1;
  }
  return outcome();
}

// Every instruction ends before the next is issued; cores go on while they can.
Outcome Shuffler::inOrder() {
  for (bool progress = true; progress;) {
    progress = false;
    for (unsigned core = 0; core < cores_.size(); ++core)
      for (bool more = true; more;) {
        more = false;
        for (uint8_t pipe = 1; pipe < 7; ++pipe)
          while (start(core, pipe) || finish(core, pipe, 0))
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

Outcome runInOrder(const Kernel &kernel, const Execution &execution, const RangeTable &ranges) {
  return Shuffler(kernel, execution, ranges, false).inOrder();
}

Outcome runShuffled(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                    bool vectorBarrier, uint64_t seed) {
  return Shuffler(kernel, execution, ranges, vectorBarrier).shuffle(seed);
}

} // namespace ptl::prove
