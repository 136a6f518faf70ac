// Which inputs to try: values that give every loop its prologue, one full rotation and its
// epilogue, and every branch both ways.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

/// Instances of a kernel, small ones first. Each loop runs 0, 1, 2 and r + 1 turns where r is its
/// rotation, with full and with cut last tiles; the counts of different inputs are combined in
/// pairs. `thorough`: also 3, r, r + 2 and 2 r + 1 turns, and all of it with cut tiles, for what is
/// written by hand; the mutation test looks there for what the others do not show.
std::vector<Inputs> instancesOf(const Kernel &kernel, bool thorough = false);

} // namespace ptl::prove
