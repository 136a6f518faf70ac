// Predicts, without running an iteration of a loop, which branches the iteration takes: iterations
// that take different branches are not alike.
#pragma once

#include "runtime/sim/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// The branches of a loop's body, the trip counts of inner loops, and the arithmetic that these
/// depend on.
class LoopControl {
public:
  /// `head` is the first step of the loop.
  LoopControl(const Function &function, size_t head);

  /// Whether any branch or trip count depends on the number of the iteration.
  bool varies() const { return varies_; }
  /// A hash that is equal for iterations that take the same branches. `scalars` are the values at
  /// the beginning of an iteration, except that `position` replaces the loop's own. Inner loops are
  /// evaluated for one iteration.
  uint64_t at(std::span<const Scalar> scalars, int64_t position) const;

private:
  const Function *function_;
  size_t head_;
  std::vector<int32_t> steps_; ///< relevant steps, in order
  bool varies_ = false;
};

} // namespace ptl::rt::sim
