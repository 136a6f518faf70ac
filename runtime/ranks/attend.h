// Starts the keeper of a run's ranks (keeper.h). The keeper is `ptlc run --shape` itself, which
// starts `mpirun` and waits for it, or, under an `mpirun` started by the user, a process that the
// first rank of each machine starts.
#pragma once

#include "runtime/ranks/keeper.h"

#include <string>
#include <vector>

namespace ptl::ranks {

/// Runs the command `words`, which starts the ranks of this run, and waits until all of them have
/// ended. The exit code in the outcome is 0 only if all results have been written.
Outcome attend(std::vector<std::string> words, uint32_t count, Limits limits,
               Keeper::NameOf nameOf);

/// Starts a process that keeps all ranks that connect to `listener`. Returns its number; 0 after a failure.
pid_t startKeeper(int listener, uint32_t expected, double patience,
                  const std::vector<std::string> &origin);

} // namespace ptl::ranks
