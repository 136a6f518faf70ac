// The copies of tiles by pushes (to a slot) and pops (from a slot).
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Both execute an operation for which there is a slot, or a tile, and whose operands have been
/// resolved. With `held`, the writes are held back there. Both return false after an error, which
/// is in `x`.
bool runPush(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held);
bool runPop(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held);

} // namespace ptl::rt::sim
