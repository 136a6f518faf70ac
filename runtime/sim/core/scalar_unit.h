// The scalar unit: everything that is done as it comes by.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Runs steps up to the next one that a pipe or an event decides, or the end of the function. False
/// after an error.
bool runToIssue(CoreState &core);

} // namespace ptl::rt::sim
