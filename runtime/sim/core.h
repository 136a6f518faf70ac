// The simulation of one core: a scalar unit that runs ahead, and the queues of its pipes.
#pragma once

#include "runtime/sim/core/core_state.h"
#include "runtime/sim/core/readiness.h"
#include "runtime/sim/run.h"

namespace ptl::rt::sim {

/// The interface of a core for drivers and for other cores of the group. The functions of `core/`
/// implement it.
class Core {
public:
  Core(Group &group, const Function &function, int32_t index, int32_t subBlock)
      : state_(group, function, index, subBlock) {}

  // What it is.

  const Function &function() const { return state_.function; }
  bool isCube() const { return state_.function.cube; }
  int32_t index() const { return state_.index; }
  int32_t subBlock() const { return state_.subBlock; }
  std::string name() const { return state_.name(); }
  CoreMemory &memory() { return state_.memory; }

  // Execution. Drivers without time choose among the pipes that are ready.

  /// Runs the scalar unit to the first operation that depends on a pipe or an event. False after an
  /// error.
  bool begin();
  /// Whether a pipe could take its next step now.
  Readiness readiness(Pipe pipe) const { return readinessOf(state_, pipe); }
  /// Executes the next step of a pipe that is ready. False after an error, which the group then
  /// reports.
  bool advance(Pipe pipe);
  bool isFinished() const { return state_.isFinished(); }
  /// Checks the conditions that must hold at the end of a kernel.
  bool finish();
  /// One line for each waiting pipe.
  std::string describeWaits() const;

  // For the group and the other cores in it.

  /// Whether the core will never use a queue: it has ended without using it.
  bool neverTakesPart(size_t queue) const { return sim::neverTakesPart(state_, queue); }
  /// How often the core has waited for a cross-core event.
  int64_t awaited(int32_t event) const {
    return state_.crossEvents.awaited[static_cast<size_t>(event)];
  }

  // For drivers that keep time (`time/`), which take operations from the pipes themselves.

  /// The next operation of a pipe; null if its queue is empty.
  const Issued *head(Pipe pipe) const {
    const IssueQueue &queue = state_.pipes[pipe].queue;
    return queue.empty() ? nullptr : &queue.front();
  }
  /// Whether the head of a pipe could begin, apart from its time.
  bool canStart(Pipe pipe) const { return isHeadReady(state_, state_.pipes[pipe].queue.front()); }
  /// Executes the head of a pipe. False after an error.
  bool startHead(Pipe pipe);
  /// Removes the head, which has been executed or skipped, from its pipe.
  void endHead(Pipe pipe);
  /// The next step of the scalar unit.
  const Step &nextStep() const { return state_.next(); }
  /// The event of a step; its number may be in a register.
  Flag flagOf(const Step &step) const;
  /// What the scalar unit has done so far, for itself and for iterations that others represent.
  const ScalarWork &scalarWork() const { return state_.scalar.work; }
  /// Sets the time and the note of operations that are issued from now on.
  void setClock(double time, uint32_t note) {
    state_.scalar.time = time;
    state_.scalar.note = note;
  }

  // For drivers that skip iterations of loops.

  /// The number of skipped iterations of loops.
  int64_t skippedRounds() const { return sampler() ? sampler()->skipped() : 0; }
  /// The number of iterations of outermost loops that the core has reached, executed or skipped.
  int64_t outermostRounds() const { return sampler() ? sampler()->outermost() : 0; }
  /// The current iteration of its outermost loop, counted from 0.
  int64_t outermostRound() const { return sampler() ? sampler()->outermostRound() : 0; }
  /// The time per iteration of each loop, by the loop's step; null if loops are not sampled.
  const std::map<size_t, double> *rounds() const {
    return sampler() ? &sampler()->rounds() : nullptr;
  }
  /// Takes the marks of iterations that the scalar unit has put into its pipes since the last call.
  std::vector<SampleAction> takeMarks() { return std::exchange(state_.loops.marks, {}); }
  /// The pipes, as bits, that get the marks of a loop.
  uint32_t markedPipes(const Step &loop) const {
    return sampler()->shapeOf(loop, state_.function).pipes;
  }
  /// Records that a pipe has reached its head, which is a mark.
  void passMark(Pipe pipe, LoopRun::Passage passage) {
    state_.loops.sampler->pass(head(pipe)->mark, pipe, passage);
  }

private:
  const LoopSampler *sampler() const {
    return state_.loops.sampler ? &*state_.loops.sampler : nullptr;
  }

  CoreState state_;
};

} // namespace ptl::rt::sim
