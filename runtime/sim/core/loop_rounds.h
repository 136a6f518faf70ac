// The iterations of a core's loops if some of them represent others.
#pragma once

#include "runtime/sim/sampling.h"

#include <map>
#include <optional>
#include <vector>

namespace ptl::rt::sim {

struct CoreState;

/// The state of a core's loops. Without a sampler all iterations are executed, and nothing here is
/// used.
struct LoopRounds {
  std::optional<LoopSampler> sampler;
  /// The values that each loop carried at the beginning of each iteration.
  std::map<size_t, std::vector<std::vector<int64_t>>> carried;
  std::vector<SampleAction> marks; ///< put into pipes, and not yet taken by a driver
};

/// To be called before an iteration of the loop that begins with `step`, and before its end: skips
/// iterations that others represent, by advancing the loop's variable and carried values, and puts
/// marks into the pipes. Requires a sampler.
void beginRound(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
