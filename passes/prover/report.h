// Reports what the judges find.
#pragma once

#include "passes/prover/hazards.h"

namespace ptl::prove {

/// Reports the errors that the simulation of events and queues found.
void judgeSync(const Case &judged);

/// Reports that `first` and `second` (in program order) are not ordered. `what` and `other` are the
/// names of what they access.
void reportHazard(const Case &judged, HazardKind kind, EventRef first, EventRef second,
                  const std::string &what, const std::string &other);

} // namespace ptl::prove
