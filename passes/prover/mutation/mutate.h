// The mutation test: seeds faults into proved block IR and counts how many the prover finds.
#pragma once

#include "passes/prover/prover.h"

namespace ptl::prove {

struct MutantReport {
  std::string change;  ///< `without wait_flag (k.ptl:7)`
  std::string verdict; ///< `killed`; not reported: `harmless`, no order of the pipes shows a
                       ///< difference; `another`, a push that takes another value of its tile, in
                       ///< any order; `survived`
  std::string code;    ///< of the first finding, if killed
};

struct MutationReport {
  std::vector<MutantReport> mutants;
  unsigned killed = 0;   ///< the prover reports a fault
  unsigned harmless = 0; ///< not reported, and no execution changes
  unsigned another = 0;  ///< not reported, and not an error: another program
  unsigned survived = 0; ///< not reported, but some execution changes
  unsigned strict = 0;   ///< of the killed: no tried interleaving has another result
  double seconds = 0;    ///< of processor time in the prover, for all mutants

  /// Of the mutants that change the result of some execution.
  double killRate() const { return killed + survived ? double(killed) / (killed + survived) : 1; }
};

/// Removes each event, wait, barrier, push, pop and free, moves it up and down across the
/// neighbouring operation, and moves each buffer by a slot and onto every other buffer of its
/// memory. Findings about `module` itself do not count. `confirm` also searches for a differing
/// result of the killed ones (slow).
MutationReport mutate(mlir::ModuleOp module, const Machine &machine, bool confirm = false);

} // namespace ptl::prove
