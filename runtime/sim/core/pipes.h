// The pipes of a core: the operations that each of them has still to do.
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
  /// What the head has written, while others run between its reads and its writes.
  std::optional<HeldWrites> inFlight;
  uint64_t issued = 0, done = 0; ///< operations, marks among them
  size_t marks = 0;              ///< in the queue: they take no room

  /// One more operation, to be filled in.
  Issued &append() {
    ++issued;
    return queue.append();
  }
  /// Whether the scalar unit has to wait before it issues another operation. Marks are the
  /// sampler's own and take no room on the chip.
  bool isFull() const { return queue.size() - marks >= depth; }

private:
  static constexpr size_t depth = 64;
};

/// The pipes of a core by their names. The scalar unit has a place among them that stays empty.
class Pipes {
public:
  PipeState &operator[](Pipe pipe) { return pipes_[at(pipe)]; }
  const PipeState &operator[](Pipe pipe) const { return pipes_[at(pipe)]; }

  /// Whether nothing waits and nothing is in flight.
  bool areDrained() const {
    return std::all_of(pipes_.begin(), pipes_.end(),
                       [](const PipeState &pipe) { return pipe.queue.empty() && !pipe.inFlight; });
  }

private:
  std::array<PipeState, kNumPipes> pipes_;
};

} // namespace ptl::rt::sim
