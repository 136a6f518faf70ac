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
  size_t turn = 1; ///< and of how many what chips compute is the mean
};

/// Whether all rounds of a loop compute and move as much: no shape in it, no bound of a loop in it and no condition depends on the
/// number of the round. Positions may, and which part does a task (`hasTasks`).
bool hasLikeRounds(const PlacedProgram &placed, const PlacedLoop &loop);

/// Whether the rounds of a loop have tasks, which go round the parts.
bool hasTasks(const PlacedProgram &placed, const PlacedLoop &loop);

/// Whether the number of the round decides which arms are taken in a loop. Then no round stands for another.
bool choosesByRound(const PlacedProgram &placed, const PlacedLoop &loop);
/// Whether there is one in it at all.
bool hasChoices(const PlacedProgram &placed, const PlacedLoop &loop);
/// Whether the number of the round decides how far a `shift` goes.
bool shiftsByRound(const PlacedProgram &placed, const PlacedLoop &loop);

/// All rounds of a loop, if there are few of them or at most `most`. Else, of rounds that are alike, those at the beginning
/// and the last ones; of others some windows of consecutive rounds, spread over the loop, each standing for the rounds
/// around it. Rounds that are alike but for their parts are so after `turn` rounds.
std::vector<PlannedRound> planRounds(int64_t rounds, bool areAlike, int64_t most, int64_t turn = 1);

} // namespace ptl::parts
