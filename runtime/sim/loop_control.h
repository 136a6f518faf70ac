// Predicts, without running a round of a loop, which branches the round takes: rounds that take
// different branches are not alike.
#pragma once

#include "runtime/sim/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// The branches of a loop's body, the trip counts of the loops in it, and the arithmetic that these
/// depend on.
class LoopControl {
public:
  /// `head` is the step that the loop begins with.
  LoopControl(const Function &function, size_t head);

  /// Whether any branch or trip count depends on the number of the round.
  bool varies() const { return varies_; }
  /// A hash that is equal for rounds that take the same branches. `scalars` are the values at the
  /// beginning of a round, except that `position` replaces the loop's own. Loops in the body are
  /// evaluated for one round.
  uint64_t at(std::span<const Scalar> scalars, int64_t position) const;

private:
  const Function *function_;
  size_t head_;
  std::vector<int32_t> steps_; ///< that matter, in order
  bool varies_ = false;
};

} // namespace ptl::rt::sim
