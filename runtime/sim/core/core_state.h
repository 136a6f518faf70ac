// The state of one core, which the functions of this folder read and change; each of their headers
// has one subject. Only this folder and `Core` may include it.
#pragma once

#include "runtime/sim/core/cross_events.h"
#include "runtime/sim/core/loop_rounds.h"
#include "runtime/sim/core/pipe_events.h"
#include "runtime/sim/core/queue_ends.h"
#include "runtime/sim/core/registers.h"
#include "runtime/sim/core/slot_frees.h"
#include "runtime/sim/core/vector_writes.h"
#include "runtime/sim/execution.h"

#include <string>

namespace ptl::rt::sim {

class Group;
struct LaunchState;

/// The state of the scalar unit between two steps.
struct ScalarUnit {
  int32_t position = 0; ///< index of the next step
  ScalarWork work;      ///< done so far, for itself and for iterations that others represent
  uint64_t issued = 0;  ///< number of operations so far, including marks and frees
  /// The time and note of operations that are issued from now on, for drivers that keep time.
  double time = 0;
  uint32_t note = 0;
};

struct CoreState {
  CoreState(Group &group, const Function &function, int32_t index, int32_t subBlock);
  CoreState(const CoreState &) = delete;
  CoreState &operator=(const CoreState &) = delete;

  Group &group;
  LaunchState &launch; ///< of the group
  const Function &function;
  const int32_t index;    ///< in the group
  const int32_t subBlock; ///< among its vector cores
  CoreMemory memory;
  Registers registers;
  ScalarUnit scalar;
  Pipes pipes;
  PipeEvents events;
  CrossEvents crossEvents;
  VectorWrites vectorWrites;
  std::vector<QueueEnd> queueEnds; ///< by queue of the kernel
  SlotFrees frees;
  LoopRounds loops;

  /// The next step of the scalar unit.
  const Step &next() const { return function.steps[static_cast<size_t>(scalar.position)]; }
  /// The index of a step in the function.
  size_t numberOf(const Step &step) const {
    return static_cast<size_t>(&step - function.steps.data());
  }
  /// Whether the scalar unit has reached the end, and all pipes are empty.
  bool isFinished() const { return next().kind == StepKind::Return && pipes.areDrained(); }
  /// The name of the core in messages.
  std::string name() const;
};

} // namespace ptl::rt::sim
