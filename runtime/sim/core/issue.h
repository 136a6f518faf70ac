// Issue: the scalar unit hands operations to pipes, with the values that their operands have then.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Notes in an operation which one it is and when it was issued, and counts it. The rest of it may
/// be that of another operation.
void stamp(CoreState &core, Issued &issued, const Step &step);
/// Fills in an operation, which may have been another one, and counts it.
void fillIssued(CoreState &core, Issued &issued, const Step &step);

/// Lets the scalar unit take the step at which it stands, for which it need not wait, and go on to
/// the next such step. False after an error.
bool advanceScalar(CoreState &core);

} // namespace ptl::rt::sim
