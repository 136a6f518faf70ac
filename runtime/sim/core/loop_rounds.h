// The rounds of a core's loops where some of them stand for others.
#pragma once

#include "runtime/sim/sampling.h"

#include <map>
#include <optional>
#include <vector>

namespace ptl::rt::sim {

struct CoreState;

/// What a core knows of its loops. Without a sampler all rounds run, and nothing here is used.
struct LoopRounds {
  std::optional<LoopSampler> sampler;
  /// The values that each round of a loop began with, by loop: those that the loop carries.
  std::map<size_t, std::vector<std::vector<int64_t>>> carried;
  std::vector<SampleAction> marks; ///< put into pipes, and not taken by a driver yet
};

/// Before a round of the loop that begins with `step`, and before its end: leaves out rounds that
/// others stand for, by moving the loop's variable and what it carries on, and puts marks into the
/// pipes. Needs a sampler.
void beginRound(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
