// Judges accesses to global memory.
#pragma once

#include "passes/prover/hazards.h"

namespace ptl::prove {

/// Judges global memory, between all pipes of a cube core and its vector cores, and finds
/// operations that both vector cores execute although only one should.
void judgeGlobal(const Case &judged);

} // namespace ptl::prove
