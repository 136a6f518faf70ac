// A second, independent opinion for the mutation test: runs one execution under many interleavings
// of the pipes, with values that stand for what was computed, and says what came out. It shares
// nothing with the clocks of `order.h`.
#pragma once

#include "passes/prover/trace.h"

#include <memory>

namespace ptl::prove {

struct Outcome {
  bool ended = true;  ///< false: stuck
  bool clear = true;  ///< no event is left set, every queue is empty
  uint64_t value = 0; ///< of everything stored to global memory, and of what scalars read
  bool operator==(const Outcome &) const = default;
};

struct ShufflePlan;

/// One execution, ready to be run again and again. What it is made from must outlive it.
class Shuffler {
public:
  Shuffler(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
           const Machine &machine);
  ~Shuffler();

  /// All cores one instruction after the other, in program order.
  Outcome inOrder() const;
  /// Every second `turn` makes one pipe of one core very slow, another one each time; in the others
  /// all pipes have random speeds.
  Outcome shuffled(uint64_t turn) const;
  /// Pipes in use, of all cores: after twice as many turns each was the slow one.
  size_t lanes() const;

private:
  std::unique_ptr<ShufflePlan> plan_;
};

} // namespace ptl::prove
