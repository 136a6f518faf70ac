// Issue: the scalar unit passes operations to pipes, with the values that their operands have at
// that time.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Sets the identity and the time of issue of an operation, and counts it. Its other members may be
/// left over from another operation.
void stamp(CoreState &core, Issued &issued, const Step &step);
/// Fills in all members of an operation, and counts it.
void fillIssued(CoreState &core, Issued &issued, const Step &step);

/// Executes the scalar unit's current step, which must not have to wait, and advances to the next
/// such step. False after an error.
bool advanceScalar(CoreState &core);

} // namespace ptl::rt::sim
