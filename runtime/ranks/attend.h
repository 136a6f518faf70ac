// Who keeps the ranks of a run: `ptlc run --shape`, which starts `mpirun` and stays, or, under an `mpirun`
// that something else has started, a process that the first rank of the machine leaves behind.
#pragma once

#include "runtime/ranks/keeper.h"

#include <string>
#include <vector>

namespace ptl::ranks {

/// Starts `words` with ranks of this run below it, and stays until all of them are gone. The code of the
/// outcome is 0 only if all results are where they belong.
Outcome attend(std::vector<std::string> words, uint32_t count, Limits limits,
               Keeper::NameOf nameOf);

/// Leaves a process behind that keeps all ranks that come to `listener`; its number, 0 if there is none.
pid_t startKeeper(int listener, uint32_t expected, double patience,
                  const std::vector<std::string> &origin);

} // namespace ptl::ranks
