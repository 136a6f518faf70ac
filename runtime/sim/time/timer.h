// Runs kernels as `run.h` does, and records when everything happens: pipes in order, events,
// queues, the scalar unit, and shared resources. It is deterministic.
#pragma once

#include "runtime/graph/region.h"
#include "runtime/sim/run.h"
#include "runtime/sim/time/timeline.h"

#include <memory>

namespace ptl::rt::sim {

/// What costs nothing in a run that computes a possible gain.
struct WhatIf {
  bool pipe[kNumPipes] = {};
  /// transfers do not share a rate, and everything hits in the second level
  bool shared = false;
  bool crossCore = false; ///< signals between cores of a group arrive at once
  bool signals = false;   ///< signals do not wait for each other at the hub
  bool launch = false;
  bool scalar = false;
  bool latency = false; ///< results are available as soon as their instruction has left its pipe
  bool padding = false; ///< partial steps of products, repeats and boxes cost only their valid part
  /// tasks that do not wait for certain others
  std::vector<std::pair<uint32_t, uint32_t>> unordered;
  std::vector<uint32_t> without; ///< operations on events that are skipped, by site
};

struct TimeOptions {
  bool values = false;              ///< compute values as well
  bool record = true;               ///< record every operation
  bool warm = false;                ///< arrays are in the second level at the start
  uint64_t mostRecords = 4'000'000; ///< more are not recorded
  uint64_t maxSteps = 0;            ///< of the scalar units; exceeding it is an error; 0: no limit
  uint64_t maxOperations = 0;       ///< of all pipes; exceeding it is an error; 0: no limit
  /// Ends the run with an error where it takes longer than so many operations usually do, be it on pipes
  /// or in loops of the scalar units, which execute no operations.
  void limitTo(uint64_t operations) {
    maxOperations = operations;
    maxSteps = 100 * operations;
  }
  bool sample = false;          ///< iterations of loops, and launches, represent others like them
  bool keepInnerQueues = false; ///< except for nested loops that pass tiles between cores
  bool paces = false;           ///< determine the paces of loops
  int64_t mostGroups = 0;       ///< number of core groups that represent all; 0: all are simulated
  /// priority levels of tasks, by the length of their path to the end; 1: no priorities
  int levels = 4;
  uint64_t seed = 0; ///< 0: tasks of a level run in the order of submission
  WhatIf whatIf;
};

/// The access of a task to an array of global memory.
struct ArrayAccess {
  uint32_t array = 0;
  bool writes = false;
  std::vector<Axis> axes = {}; ///< empty for an array with axes: all of it
};

struct TaskRequest {
  const Kernel *kernel = nullptr;    ///< null: `work`, which takes no time
  std::vector<GlobalArray> pointers; ///< arguments of the kernel, in order
  std::vector<uint32_t> arrays;      ///< the numbers of its pointers
  std::vector<size_t> workspaces;    ///< pointers to private memory: poison, or no bytes
  std::vector<Scalar> scalars;
  int64_t blocks = 1;
  std::vector<ArrayAccess> accesses;
  std::function<bool()> work;
  SourceLocation location = {};
  std::string name = ""; ///< chosen by the program
  /// the operation of the program; launches from the same one may be alike
  const void *site = nullptr;
};

struct Engine;

/// A chip in virtual time. An orchestrator submits tasks in program order. Each waits for earlier
/// tasks with conflicting accesses; then a scheduler dispatches it, and its blocks run on cores of
/// its kind, on as many concurrently as there are.
class Timer {
public:
  Timer(const Machine &machine, const MachineCosts &costs, TimeOptions options);
  ~Timer();

  /// Adds an array of global memory and returns its number.
  uint32_t addArray(int64_t bytes, size_t rank = 1, std::string name = "",
                    bool isIntermediate = false);

  /// Submits a task. False after an error, which is then in the timeline.
  bool submit(TaskRequest request);
  /// Advances time until no unfinished task conflicts with the access; then the orchestrator
  /// continues.
  bool await(const ArrayAccess &access);
  /// Advances time until all tasks have ended.
  bool finish();

  /// Runs a kernel after all that ran before.
  bool run(const Kernel &kernel, std::span<const GlobalArray> pointers,
           std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks);

  /// The number of core groups that execute a kernel concurrently.
  int64_t groupsFor(const Kernel &kernel) const;
  /// Everything recorded so far.
  const Timeline &timeline() const;
  Timeline take();

private:
  std::unique_ptr<Engine> engine_;
};

} // namespace ptl::rt::sim
