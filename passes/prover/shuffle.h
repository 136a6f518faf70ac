// A second, independent opinion for the mutation test: runs one execution under random
// interleavings of the pipes, with values that stand for what was computed, and says what came out.
// It shares nothing with the clocks of `order.h`.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

struct Outcome {
  bool ended = true;  ///< false: stuck
  bool clear = true;  ///< no event is left set, every queue is empty
  uint64_t value = 0; ///< of everything stored to global memory, and of what scalars read
  bool operator==(const Outcome &) const = default;
};

/// Runs all cores one instruction after the other, in program order.
Outcome runInOrder(const Kernel &kernel, const Execution &execution, const RangeTable &ranges);
/// Runs with a random interleaving; pipes have random speeds.
Outcome runShuffled(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                    bool vectorBarrier, uint64_t seed);

} // namespace ptl::prove
