// Executes the steps of a group of parts: all parts together in one process, or one rank alone.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/grid.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

using Bytes = std::vector<uint8_t>;

/// The result of one part's steps, computed from the dense bytes of what it has; or the part from
/// which no message arrived within the time limit.
struct OwnResult {
  Bytes bytes;
  std::optional<uint32_t> silent;
};
OwnResult exchangeAsRank(const GroupMove &group, const OwnPart &own, size_t elementBytes,
                         std::span<const uint8_t> source, const movement::CombineBytes &combine);

/// Gets the result of a rank of the group.
using TakeResult = std::function<void(size_t rank, std::span<const uint8_t> bytes)>;

/// Gives the results of all parts of a group, rank by rank; steps that only copy need no `combine`. If the
/// list of steps is inconsistent, the reason is returned, and nothing is given.
std::string exchangeTogether(const GroupMove &group, size_t elementBytes,
                             std::vector<Bytes> sources, const movement::CombineBytes &combine,
                             uint64_t seed, const TakeResult &take);

} // namespace ptl::parts
