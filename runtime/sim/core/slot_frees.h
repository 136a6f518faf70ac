// Pending frees of slots in a core's own memory.
#pragma once

#include "runtime/sim/core/pipes.h"

#include <deque>

namespace ptl::rt::sim {

/// The frees that wait for pipes. A free concerns all pipes, so it is in no pipe's queue: the slot
/// becomes free when every operation that was issued before has ended, since any of them may read
/// the tile.
class SlotFrees {
public:
  /// Adds a free of a slot of a queue, after everything that has been issued to the pipes so far.
  void add(int32_t queue, const Pipes &pipes) {
    Free &free = frees_.emplace_back();
    free.queue = queue;
    for (size_t i = 0; i < kNumPipes; ++i)
      free.after[i] = pipes[static_cast<Pipe>(i)].issued;
  }
  /// Removes the oldest free if the pipes have finished what it waits for, and returns its queue;
  /// -1 if there is none.
  int32_t takeDue(const Pipes &pipes) {
    if (frees_.empty() || !isDue(frees_.front(), pipes))
      return -1;
    int32_t queue = frees_.front().queue;
    frees_.pop_front();
    return queue;
  }

private:
  struct Free {
    int32_t queue = -1;
    /// number of operations of each pipe that must have ended
    std::array<uint64_t, kNumPipes> after{};
  };
  static bool isDue(const Free &free, const Pipes &pipes) {
    for (size_t i = 0; i < kNumPipes; ++i)
      if (pipes[static_cast<Pipe>(i)].done < free.after[i])
        return false;
    return true;
  }

  std::deque<Free> frees_;
};

} // namespace ptl::rt::sim
