// Runs kernels as `run.h` does, and records when everything happens: pipes in order, events,
// queues, the scalar unit, and everything that cores share. It is deterministic.
#pragma once

#include "runtime/graph/region.h"
#include "runtime/sim/run.h"
#include "runtime/sim/time/timeline.h"

#include <memory>

namespace ptl::rt::sim {

/// What costs nothing in a run that asks how much would be gained.
struct WhatIf {
  bool pipe[kNumPipes] = {};
  bool shared = false;    ///< transfers do not share a rate, and everything is in the second level
  bool crossCore = false; ///< cores of a group hear of each other at once
  bool signals = false;   ///< signals between cores do not wait for each other
  bool launch = false;
  bool scalar = false;
  bool latency = false; ///< results are there as soon as their instruction has left its pipe
  bool padding = false; ///< of steps of products, repeats and boxes that are not full
  std::vector<std::pair<uint32_t, uint32_t>> unordered; ///< tasks that do not wait for others
  std::vector<uint32_t> without; ///< operations on events that are left out, by site
};

struct TimeOptions {
  bool values = false;              ///< compute too
  bool record = true;               ///< keep every operation
  bool warm = false;                ///< arrays are in the second level at the start
  uint64_t mostRecords = 4'000'000; ///< more are not kept
  uint64_t maxSteps = 0;
  uint64_t maxOperations = 0;   ///< of all pipes; more are an error; 0: no limit
  bool sample = false;          ///< rounds of loops, and launches, stand for others like them
  bool keepInnerQueues = false; ///< but none within others where tiles are handed over
  bool paces = false;           ///< those of loops are looked for
  int64_t mostGroups = 0;       ///< so many core groups stand for all; 0: all run
  int levels = 4;               ///< of tasks, by how long their way to the end is; 1: all are alike
  uint64_t seed = 0;            ///< 0: tasks of a level go in the order in which they are submitted
  WhatIf whatIf;
};

/// How a task uses an array of global memory.
struct ArrayAccess {
  uint32_t array = 0;
  bool writes = false;
  std::vector<Axis> axes = {}; ///< without those of its array: all of it
};

struct TaskRequest {
  const Kernel *kernel = nullptr;    ///< null: `work`, which takes no time
  std::vector<GlobalArray> pointers; ///< arguments of the kernel, in order
  std::vector<uint32_t> arrays;      ///< the numbers of its pointers
  std::vector<size_t> workspaces;    ///< pointers that are memory of its own: poison, or no bytes
  std::vector<Scalar> scalars;
  int64_t blocks = 1;
  std::vector<ArrayAccess> accesses;
  std::function<bool()> work;
  SourceLocation location = {};
  std::string name = "";      ///< that the program gives it
  const void *site = nullptr; ///< the operation of the program; those of one may be alike
};

struct Engine;

/// A chip in virtual time. An orchestrator submits tasks in program order. Each waits for earlier
/// tasks that touch the same parts of arrays; then a scheduler hands it out, and it runs block by
/// block on cores of its kind, on as many at the same time as there are.
class Timer {
public:
  Timer(const Machine &machine, const MachineCosts &costs, TimeOptions options);
  ~Timer();

  /// Adds an array of global memory and returns its number.
  uint32_t addArray(int64_t bytes, size_t rank = 1, std::string name = "",
                    bool isIntermediate = false);

  /// Submits a task. False after an error, which is then in the timeline.
  bool submit(TaskRequest request);
  /// Lets time pass until no unfinished task conflicts with the access; then the orchestrator goes
  /// on.
  bool await(const ArrayAccess &access);
  /// Lets time pass until all tasks have ended.
  bool finish();

  /// Runs a kernel after all that ran before.
  bool run(const Kernel &kernel, std::span<const GlobalArray> pointers,
           std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks);

  /// The number of core groups that work on a kernel at the same time.
  int64_t groupsFor(const Kernel &kernel) const;
  /// What has happened so far.
  const Timeline &timeline() const;
  Timeline take();

private:
  std::unique_ptr<Engine> engine_;
};

} // namespace ptl::rt::sim
