// Judges addresses, ids and queues.
#pragma once

#include "passes/prover/hazards.h"

namespace ptl::prove {

/// Judges addresses, ids and queues, as far as they follow from the declarations and the addresses
/// of one execution.
void judgePlaces(const Case &judged, const Machine &machine);
void judgeQueues(const Kernel &kernel, const Machine &machine, Findings &findings);

} // namespace ptl::prove
