// The context of a run in time: how it begins, and what is noted and reported.
#include "runtime/sim/time/engine.h"

#include <algorithm>
#include <utility>

namespace ptl::rt::sim {

static double rateOr(double rate) { return rate > 0 ? rate : never; }

/// A lane for each core: a cube core with the vector cores of its group behind it.
static void makeLanes(Engine &e) {
  const ControlCost &control = e.model.costs().control;
  bool free = e.options.whatIf.launch;
  // The launch of a program covers its first task, which is submitted and handed out meanwhile.
  if (!free)
    e.timeline.programBegun = e.orchestrator =
        std::max(0.0, control.launch - control.submit - control.dispatch);
  e.schedulers.assign(static_cast<size_t>(std::max(1.0, control.schedulers)), 0);
  uint32_t cubes = 0, vectors = 0;
  for (size_t lane = 0; lane < e.timeline.lanes.size(); lane += kNumPipes)
    ++(e.timeline.lanes[lane].cube ? cubes : vectors);
  auto perCube = static_cast<uint32_t>(std::max<int64_t>(e.chip.vectorPerCube, 0));
  Topology topology;
  for (uint32_t group = 0, next = 0; group < cubes || next < vectors; ++group) {
    if (group < cubes) {
      topology.lanes.push_back({LaneKind::Aic, group, 0});
      e.coresOfLane.push_back({group});
    }
    for (uint32_t i = 0; i < std::max(perCube, 1u) && next < vectors; ++i, ++next) {
      topology.lanes.push_back({LaneKind::Aiv, group, 0});
      e.coresOfLane.push_back({cubes + next});
    }
  }
  e.lastOnCore.assign(cubes + vectors, kNoTask);
  SchedulePolicy policy;
  policy.levels = e.options.levels;
  policy.oldestFirst = e.options.seed == 0;
  policy.seed = e.options.seed;
  e.lanes.emplace(topology, policy);
}

Engine::Engine(const Machine &machine, const MachineCosts &costs, TimeOptions given)
    : second(costs.memory.l2Bytes ? costs.memory.l2Bytes : INT64_MAX >> 24,
             costs.memory.lineBytes ? costs.memory.lineBytes : 512),
      options(std::move(given)), machine(machine), chip(chipOf(machine)), model(machine, costs),
      l2(rateOr(costs.memory.l2Rate)), memory(rateOr(costs.memory.memoryRate)),
      hub(options.whatIf.signals || options.whatIf.crossCore ? 0 : costs.control.signal) {
  timeline.clockMhz = model.clockMhz();
  timeline.signal = costs.control.signal;
  if (options.whatIf.padding)
    model.leaveOutPadding();
  for (const char *kind : {"aic", "aiv"}) {
    const MachineCore *cores = machine.core(kind);
    // A machine whose file does not count its cores has one group: a cube core and two vector
    // cores.
    int64_t count = cores && cores->count ? cores->count : kind[2] == 'c' ? 1 : 2;
    for (int64_t i = 0; i < count * static_cast<int64_t>(kNumPipes); ++i)
      timeline.lanes.push_back({kind[2] == 'c', static_cast<int32_t>(i / int64_t(kNumPipes)),
                                static_cast<Pipe>(i % int64_t(kNumPipes))});
  }
  timeline.used.assign(timeline.lanes.size(), false);
  makeLanes(*this);
  for (uint32_t site : options.whatIf.without) {
    left.resize(std::max<size_t>(left.size(), site + 1));
    left[site] = true;
  }
}

int64_t Engine::groupsFor(const Kernel &kernel) const {
  const MachineCore *cores = machine.core(kernel.cube ? "aic" : "aiv");
  return cores && cores->count ? cores->count : kernel.cube ? 1 : chip.vectorPerCube;
}

bool Engine::fail(std::string message) {
  if (timeline.ok) {
    timeline.ok = false;
    timeline.error = std::move(message);
  }
  failed = true;
  return false;
}

bool Engine::fail(const GroupClock &clock) {
  const Result &result = clock.launch->state->result;
  if (!failed) {
    timeline.failedCheck = result.failedCheck;
    timeline.lacksValues = result.lacksValues;
  }
  return fail(result.error);
}

uint32_t Engine::addRecord(const CoreClock &clock, const Record &record) {
  if (!options.record || timeline.records.size() >= options.mostRecords)
    return kNoRecord;
  timeline.records.push_back(record);
  timeline.records.back().block = clock.group->span;
  return static_cast<uint32_t>(timeline.records.size() - 1);
}

} // namespace ptl::rt::sim
