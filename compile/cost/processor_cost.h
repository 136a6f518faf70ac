// A lower bound of the time that an entry takes on this processor, for each place of its source:
// what it computes and moves, counted for given lengths, divided by the peak rates of the machine.
// Nothing is run.
#pragma once

#include "compile/compiler_options.h"
#include "compile/cost/cost.h"
#include "compile/cost/machine_peaks.h"

namespace ptl {

struct ProcessorQuestion {
  const CheckedProgram &program;
  const SourceManager &sources;
  const BoundEntry &bound;
  CompilerOptions options; ///< for this processor
  ExampleSizes sizes;
};

/// A statement takes at least the time of its arithmetic, and the time to move the arrays in memory
/// that it accesses: each element once for each run of its grid. If all arrays of the call together
/// take less than half of the last-level cache, they are assumed to be cached. A fused intermediate
/// is not an array in memory. The time of the whole is the sum over its statements. `Cost::storage`
/// is not changed.
Cost processorCost(const ProcessorQuestion &question, const MachinePeaks &peaks);

} // namespace ptl
