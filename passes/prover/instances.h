// Chooses the inputs to try: values that give every loop its prologue, one full rotation and its
// epilogue, and take every branch both ways.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

/// The instances of a kernel, small ones first. Each loop runs 0, 1, 2 and r + 1 times where r is
/// its rotation, with full and with cut last tiles; the counts of different inputs are combined in
/// pairs. With `thorough`, each also runs 3, r, r + 2 and 2 r + 1 times, all with cut tiles, too.
/// This is for kernels that are written by hand; the mutation test uses it for faults that the
/// other instances do not show.
std::vector<Inputs> instancesOf(const Kernel &kernel, bool thorough = false);

} // namespace ptl::prove
