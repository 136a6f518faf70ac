// Chooses the inputs to try: values for which every loop has its prologue, one full rotation and
// its epilogue, and every branch is taken both ways.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

/// The instances of a kernel, small ones first. Each loop runs 0, 1, 2 and r + 1 times, where r is
/// its rotation, with full and with partial last tiles; the counts of different inputs are combined
/// pairwise. With `thorough`, each also runs 3, r, r + 2 and 2 r + 1 times, all with partial tiles,
/// too. That is for kernels written by hand; the mutation test uses it for faults that the other
/// instances do not reveal.
std::vector<Inputs> instancesOf(const Kernel &kernel, bool thorough = false);

} // namespace ptl::prove
