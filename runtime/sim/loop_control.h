// Which way control goes in a round of a loop, told without running the round: rounds that go
// different ways are not alike.
#pragma once

#include "runtime/sim/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// The branches of a loop's body, the lengths of the loops in it, and the arithmetic that they are
/// decided by.
class LoopControl {
public:
  /// `head`: the step that the loop begins with.
  LoopControl(const Function &function, size_t head);

  /// Whether the number of the round decides any of it.
  bool varies() const { return varies_; }
  /// A number that is equal for rounds which go the same ways. `scalars`: as they are when a round
  /// begins, but for the position; loops in the body are gone through once.
  uint64_t at(std::span<const Scalar> scalars, int64_t position) const;

private:
  const Function *function_;
  size_t head_;
  std::vector<int32_t> steps_; ///< that matter, in order
  bool varies_ = false;
};

} // namespace ptl::rt::sim
