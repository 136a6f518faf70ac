// The pipes of a core: the pending operations of each.
#pragma once

#include "runtime/sim/held_writes.h"
#include "runtime/sim/issue_queue.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ptl::rt::sim {

/// The index of a pipe in tables of pipes.
inline size_t at(Pipe pipe) { return static_cast<size_t>(pipe); }

struct PipeState {
  IssueQueue queue;
  /// The writes of the head that are held back, while others run between its reads and its writes.
  std::optional<HeldWrites> inFlight;
  uint64_t issued = 0, done = 0; ///< number of operations, including marks
  size_t marks = 0;              ///< in the queue; they do not count towards its capacity

  /// Appends an operation, to be filled in.
  Issued &append() {
    ++issued;
    return queue.append();
  }
  /// Whether the scalar unit must wait before it issues another operation. Marks belong to the
  /// sampler and occupy no queue entries on the chip.
  bool isFull() const { return queue.size() - marks >= depth; }

private:
  static constexpr size_t depth = 64;
};

/// The pipes of a core by their names. The scalar unit has an unused place among them.
class Pipes {
public:
  PipeState &operator[](Pipe pipe) { return pipes_[at(pipe)]; }
  const PipeState &operator[](Pipe pipe) const { return pipes_[at(pipe)]; }

  /// Whether all queues are empty and nothing is in flight.
  bool areDrained() const {
    return std::all_of(pipes_.begin(), pipes_.end(),
                       [](const PipeState &pipe) { return pipe.queue.empty() && !pipe.inFlight; });
  }

private:
  std::array<PipeState, kNumPipes> pipes_;
};

} // namespace ptl::rt::sim
