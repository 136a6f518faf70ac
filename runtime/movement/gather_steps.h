// Gathers and broadcasts.
#pragma once

#include "runtime/movement/writer.h"

namespace ptl::movement {

void writeAllGather(Writer &w, Algorithm algorithm);
void writeBroadcast(Writer &w, Algorithm algorithm);

/// An all-gather along an axis by passing blocks around the ring; the blocks lie in the result.
void passRound(Writer &w, size_t axis);
void gatherAtOnce(Writer &w, size_t axis);
/// Broadcasts the result of rank `root`, which has it in buffer `ofRoot`, along a binomial tree.
void broadcastResult(Writer &w, uint32_t root, uint32_t ofRoot);
/// Exchanges boxes within a group: rank `number` provides `boxesOf(number)`. Each has its own boxes
/// in buffer `own`, and receives the others into the result.
void gatherAmong(Writer &w, const Group &group, bool allAtOnce, uint32_t own,
                 const std::function<std::vector<Box>(uint32_t)> &boxesOf);

} // namespace ptl::movement
