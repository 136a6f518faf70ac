// What a vector pipe has written and may not read yet.
#pragma once

#include "runtime/sim/held_writes.h"

#include <cstdint>
#include <random>
#include <vector>

namespace ptl::rt::sim {

/// Writes of vector instructions from the end of the instruction on, in the order in which these
/// ended. At first nobody sees them. Once they are published other pipes do, and the vector pipe
/// itself does once they have settled, which only a barrier or a chain of events that leads back to
/// it brings about. Until then `hide` takes them out of the memory while the vector pipe reads.
class VectorWrites {
public:
  void add(HeldWrites writes) { unsettled_.push_back({std::move(writes), ++count_, false}); }
  /// How many there have been.
  uint64_t count() const { return count_; }

  /// Lets other pipes see all of them. Instructions without a barrier between them may end in any
  /// order; with `random` they do.
  void publish(std::mt19937_64 *random);
  /// Publishes them and lets the vector pipe see them, too.
  void settle(std::mt19937_64 *random);
  /// Lets the vector pipe see those among the first `count` that are published.
  void settleUpTo(uint64_t count);

  /// Takes what only other pipes may see out of the memory; `reveal` undoes the last `hide`.
  void hide();
  void reveal() const;

private:
  struct Entry {
    HeldWrites writes;
    uint64_t number; ///< from 1
    bool isPublished;
  };
  std::vector<Entry> unsettled_;
  uint64_t count_ = 0;
};

} // namespace ptl::rt::sim
