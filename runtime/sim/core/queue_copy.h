// The tiles that a push puts into a slot and a pop takes out of it.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Both run an operation for which there is a slot, or a tile, and whose operands have been found.
/// With `held` what they write is held there. Both return false after an error, with the fault in
/// `x`.
bool runPush(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held);
bool runPop(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held);

} // namespace ptl::rt::sim
