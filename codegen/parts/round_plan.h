// Which rounds of a loop are simulated, and how many others each of them stands for.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl::parts {

/// A round that is simulated.
struct PlannedRound {
  int64_t number = 0;
  double stands = 1;   ///< for so many rounds, itself included
  int64_t leftOut = 0; ///< rounds that are not simulated and come before the next one of the plan
  /// How many rounds their pace is the mean of. It is read at this round and at the one before it, and there are as many
  /// rounds in a row as that takes.
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

/// All rounds of a loop, if there are few of them or at most `most`. Else, of rounds that are alike, those at the beginning
/// and the last ones; of others some windows of consecutive rounds, spread over the loop, each standing for the rounds
/// around it. Rounds that are alike but for their parts are so after `turn` rounds.
std::vector<PlannedRound> planRounds(int64_t rounds, bool areAlike, int64_t most, int64_t turn = 1);

} // namespace ptl::parts
