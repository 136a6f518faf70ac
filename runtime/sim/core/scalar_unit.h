// The scalar unit: the steps that it executes immediately.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Executes steps up to the next one that depends on a pipe or an event, or the end of the
/// function. False after an error.
bool runToIssue(CoreState &core);

} // namespace ptl::rt::sim
