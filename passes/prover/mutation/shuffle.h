// A second, independent check for the mutation test: it runs one execution under many interleavings
// of the pipes, with symbols for the computed values, and returns the results. It shares no code
// with the clocks of `order.h`.
#pragma once

#include "passes/prover/trace.h"

#include <memory>

namespace ptl::prove {

struct Outcome {
  bool ended = true;  ///< false: deadlock
  bool clear = true;  ///< no event is left set, and every queue is empty
  uint64_t value = 0; ///< hash of everything stored to global memory, and read by scalars
  bool operator==(const Outcome &) const = default;
};

struct ShufflePlan;

/// One execution that can be run any number of times. Everything that it is constructed from must
/// outlive it.
class Shuffler {
public:
  Shuffler(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
           const Machine &machine);
  ~Shuffler();

  /// Runs all cores one instruction after the other, in program order.
  Outcome inOrder() const;
  /// Runs an interleaving. Every second `turn` makes one pipe of one core very slow, a different
  /// one each time; in the other turns all pipes have random speeds.
  Outcome shuffled(uint64_t turn) const;
  /// The number of pipes in use, over all cores. After twice as many turns each of them has been
  /// the slow one.
  size_t lanes() const;

private:
  std::unique_ptr<ShufflePlan> plan_;
};

} // namespace ptl::prove
