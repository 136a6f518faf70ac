// The least time that an entry takes on this processor, by the places of its source: what it
// computes and moves, counted for given lengths, over the rates of the machine. Nothing is run.
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

/// A statement takes at least as long as its arithmetic does, and as moving the arrays in memory
/// that it reads and writes: each element once for each time that its grid runs. Where all arrays
/// of the call together take less than half of the last-level cache, they are taken to be there.
/// What is fused is no array. The time of the whole is that of its statements one after another.
/// `Cost::storage` is left as it is.
Cost processorCost(const ProcessorQuestion &question, const MachinePeaks &peaks);

} // namespace ptl
