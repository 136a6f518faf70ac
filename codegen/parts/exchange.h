// Carries out the steps of a group of parts: of all together in one process, or of one rank by itself.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/grid.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

using Bytes = std::vector<uint8_t>;

/// The result of the steps of a part, from the dense bytes of what it has; or the part that sent nothing for too
/// long.
struct OwnResult {
  Bytes bytes;
  std::optional<uint32_t> silent;
};
OwnResult exchangeAsRank(const GroupMove &group, const OwnPart &own, size_t elementBytes,
                         std::span<const uint8_t> source, const movement::CombineBytes &combine);

/// The results of all parts of a group, by rank, for a list that adds nothing. `why`: the list does not hold together.
std::vector<Bytes> exchangeTogether(const GroupMove &group, size_t elementBytes,
                                    const std::vector<Bytes> &sources, uint64_t seed,
                                    std::string &why);

} // namespace ptl::parts
