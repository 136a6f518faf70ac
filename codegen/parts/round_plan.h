// Chooses which rounds of a loop are simulated, and how many others each of them represents.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl::parts {

/// A round that is simulated.
struct PlannedRound {
  int64_t number = 0;
  double stands = 1;   ///< the number of rounds it represents, itself included
  int64_t leftOut = 0; ///< rounds that are skipped between this one and the plan's next one
  /// The number of rounds over which the mean pace is taken at this round; it is measured at this
  /// round and the one before, so that many consecutive rounds precede.
  size_t pace = 0;
};

/// Whether all rounds of a loop compute and move equally much: no shape, no bound of an inner loop
/// and no condition depends on the number of the round. Positions may.
bool hasLikeRounds(const PlacedProgram &placed, const PlacedLoop &loop);

/// Whether the number of the round decides which arms are taken in a loop. Then no round represents
/// another.
bool choosesByRound(const PlacedProgram &placed, const PlacedLoop &loop);

/// All rounds of a loop, if there are few of them or at most `most`. Otherwise, if all rounds are
/// alike, some at the beginning and the last ones; if not, windows of consecutive rounds spread
/// over the loop, each representing the rounds around it.
std::vector<PlannedRound> planRounds(int64_t rounds, bool areAlike, int64_t most);

} // namespace ptl::parts
