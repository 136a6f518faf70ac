#include "passes/prover/prove_kernel.h"

#include "passes/prover/global.h"
#include "passes/prover/hazards.h"
#include "passes/prover/instances.h"
#include "passes/prover/mix.h"
#include "passes/prover/places.h"
#include "passes/prover/report.h"

#include <unordered_set>

namespace ptl::prove {

static constexpr uint64_t kEventsPerKernel = 400000;

// Kernels with many operations in their text get a larger limit, since each iteration has more.
size_t eventsPerInstance(const Kernel &kernel) {
  return std::max<size_t>(kEventsPerInstance, static_cast<size_t>(8 * kernel.size));
}

static std::string describe(const Kernel &kernel, const Inputs &inputs) {
  std::string text;
  int64_t group = kernel.group, groups = kernel.groups;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input &input = kernel.inputs[i];
    // Which core group it is stands at the end of the text.
    if (input.role == Input::Group || input.role == Input::Groups) {
      (input.role == Input::Group ? group : groups) = inputs[i];
      continue;
    }
    text += text.empty() ? "" : ", ";
    text += (input.role == Input::Data ? "data" : input.name) + " = " + std::to_string(inputs[i]);
  }
  if (groups > 1)
    text += (text.empty() ? "" : ", ") + ("as core group " + std::to_string(group)) + " of " +
            std::to_string(groups);
  return text;
}

uint64_t eventsOf(const Execution &execution) {
  uint64_t events = 0;
  for (const Core &core : execution.cores)
    events += core.events.size();
  return events;
}

void forEachExecution(const Kernel &kernel, const std::vector<Inputs> &instances,
                      RangeTable &ranges, Findings &findings,
                      llvm::function_ref<void(const Inputs &, const Execution &)> visit,
                      Effort effort) {
  auto leaveOut = [&](size_t first, size_t count) {
    ProofResult &result = findings.result();
    if (effort == Effort::Most && result.untried == 0)
      result.firstUntried = describe(kernel, instances[first]);
    if (effort == Effort::Most)
      result.untried += static_cast<unsigned>(count);
    if (effort == Effort::All)
      result.skipped += static_cast<unsigned>(count);
  };
  std::unordered_set<uint64_t> seen;
  const size_t most = eventsPerInstance(kernel);
  // The limit for all instances grows with that for one.
  const uint64_t mostInAll = kEventsPerKernel / kEventsPerInstance * most;
  uint64_t used = 0;
  size_t excluded = 0;
  for (size_t i = 0; i < instances.size(); ++i) {
    // The rest is left out at once, since each instance would need more operations still.
    if (used > mostInAll) {
      leaveOut(i, instances.size() - i);
      break;
    }
    Execution execution = runKernel(kernel, instances[i], ranges, findings, most);
    used += eventsOf(execution);
    // Sizes that contradict a requirement are no instances.
    if (execution.excluded) {
      ++excluded;
      continue;
    }
    // Only kernels made by the compiler must be tried in full.
    if (!execution.complete && effort != Effort::All) {
      leaveOut(i, 1);
      continue;
    }
    if (!execution.complete) {
      findings.undecided(kernel.functions.front().op,
                         "`" + kernel.name + "` needs more than " + std::to_string(most) +
                             " operations with " + describe(kernel, instances[i]));
      continue;
    }
    // Executions with the same operations and addresses have the same faults.
    if (!seen.insert(execution.hash).second)
      continue;
    ++findings.result().instances;
    findings.result().events += eventsOf(execution);
    visit(instances[i], execution);
  }
  // If all sizes were excluded, nothing has been proved.
  if (effort == Effort::All && excluded > 0 && excluded == instances.size())
    findings.undecided(kernel.functions.front().op, "none of the sizes that were tested for `" +
                                                        kernel.name + "` meets its requirements");
}

// Later faults of an execution that does not end, or whose signals are lost, are consequences.
void judgeExecution(const Kernel &kernel, const Inputs &inputs, const Execution &execution,
                    const RangeTable &ranges, const Machine &machine, Findings &findings,
                    bool firstOnly) {
  Order order;
  Case judged{kernel, execution, order, ranges, findings, describe(kernel, inputs)};
  // One fault is enough to tell that a mutant is wrong.
  if (firstOnly)
    judged.enoughFaults = findings.faults() + 1;
  // Accesses outside of memory make every other finding doubtful.
  judgePlaces(judged, machine);
  if (judged.enough())
    return;
  order = orderOf(kernel, execution, machine.vectorBarrier);
  judgeSync(judged);
  // Without an end or with lost signals there is no order of all operations to judge by.
  if (!order.finished || !order.faults.empty())
    return;
  using Judge = void (*)(const Case &);
  for (Judge judge : {Judge(judgeTiles), Judge(judgeSlots), Judge(judgeGlobal)}) {
    judge(judged);
    if (judged.enough())
      return;
  }
}

// ---- fingerprints -------------------------------------------------------------------------------

namespace {

uint64_t numberOf(const Kernel &kernel, uint32_t op) {
  // A mutant shares the operations of the kernel that it was made of, so addresses are comparable.
  return reinterpret_cast<uintptr_t>(kernel.operations[op]);
}

uint64_t hashOf(const Kernel &kernel, const Execution &execution, const Core &core,
                const Event &event) {
  // The flag and the pipe are small numbers, so one word holds both.
  uint64_t hash = mix(mix(numberOf(kernel, event.op), event.kind), event.flag * 64 + event.pipe);
  hash = mix(hash, event.scalars);
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core.accesses[a];
    unsigned how = access.reads + 2u * access.writes + 4u * access.scratch + 8u * access.atomic;
    hash = mix(hash, how);
    if (access.global) {
      hash = mix(hash, hashOf(execution.boxes[access.bytes]));
    } else {
      const Buffer &buffer = execution.buffers[access.buffer];
      hash = mix(mix(hash, numberOf(kernel, buffer.op)), buffer.slot * 16 + buffer.turn);
      hash =
          mix(mix(hash, access.place + access.bytes * 64ull), static_cast<uint64_t>(access.base));
    }
  }
  return hash;
}

} // namespace

uint64_t fingerprint(const Kernel &kernel, const Execution &execution) {
  uint64_t result = 0;
  // Each pipe sees its own events in order; what the scalar unit has done before decides what they
  // are.
  for (const Core &core : execution.cores) {
    uint64_t pipes[8] = {}, program = 0, scalar = 0; // `scalar`: its events so far
    for (const Event &event : core.events) {
      uint64_t hash = hashOf(kernel, execution, core, event);
      bool isSync = event.kind == Event::Set || event.kind == Event::Wait ||
                    event.kind == Event::Barrier || event.kind == Event::Signal ||
                    event.kind == Event::Await;
      // The program without synchronisation is hashed on its own: two kernels that differ only in
      // it must still do the same.
      if (!isSync)
        program = mix(program, hash);
      if (event.kind == Event::Alloc)
        continue;
      bool waitsForAll =
          event.kind == Event::Barrier && event.pipe == static_cast<uint8_t>(Pipe::All);
      // The reader of a slot gives it back.
      bool stopsCore = event.kind == Event::Await && kernel.awaitStopsCore;
      bool onAll = waitsForAll || event.kind == Event::Free || stopsCore;
      // What holds up all pipes is part of each pipe's history.
      for (unsigned pipe = 0; pipe < 8; ++pipe)
        if (onAll || pipe == event.pipe)
          pipes[pipe] = mix(pipes[pipe], mix(hash, scalar));
      // From here on operations are issued after this event.
      if (waitsForAll || stopsCore || event.pipe == static_cast<uint8_t>(Pipe::S))
        scalar = mix(scalar, hash);
    }
    for (uint64_t pipe : pipes)
      result = mix(result, pipe);
    result = mix(result, program);
  }
  for (const Buffer &buffer : execution.buffers)
    // Buffers have no order, so their hashes are added.
    result += mix(mix(buffer.op < kernel.operations.size() ? numberOf(kernel, buffer.op) : 0,
                      buffer.slot * 16 + buffer.turn),
                  static_cast<uint64_t>(buffer.base));
  for (const QueueArea &area : execution.areas)
    result = mix(result, mix(static_cast<uint64_t>(area.begin), area.pointer));
  return result;
}

} // namespace ptl::prove
