// Which inputs to try: values that give every loop its prologue, one full rotation and its
// epilogue, and every branch both ways.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

/// Instances of a kernel, small ones first. Each loop runs 0, 1, 2, 3, r, r + 1 and 2 r + 1 turns
/// where r is the rotation of the kernel, with full and with cut last tiles; the counts of
/// different inputs are combined in pairs.
std::vector<Inputs> instancesOf(const Kernel &kernel);

} // namespace ptl::prove
