// Writes of a vector pipe that it may not read yet.
#pragma once

#include "runtime/sim/held_writes.h"

#include <cstdint>
#include <random>
#include <vector>

namespace ptl::rt::sim {

/// The writes of vector instructions since the end of each instruction, in the order of these ends.
/// At first they are visible to nobody. Once they are published, other pipes see them; the vector
/// pipe itself does once they have settled, which requires a barrier or a chain of events that
/// leads back to it. Until then `hide` removes them from the memory while the vector pipe reads.
class VectorWrites {
public:
  void add(HeldWrites writes) { unsettled_.push_back({std::move(writes), ++count_, false}); }
  /// The number of writes so far.
  uint64_t count() const { return count_; }

  /// Makes all of them visible to other pipes. Instructions without a barrier between them may end
  /// in any order; with `random` the order is random.
  void publish(std::mt19937_64 *random);
  /// Publishes them and makes them visible to the vector pipe, too.
  void settle(std::mt19937_64 *random);
  /// Makes those among the first `count` that are published visible to the vector pipe.
  void settleUpTo(uint64_t count);

  /// Removes writes that only other pipes may see from the memory; `reveal` undoes the last `hide`.
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
