// Tiles in a core's memory: the steps that determine their address and form.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Executes a step that allocates or declares a tile, or takes a slot, a window or an alias of
/// another one. False after an error.
bool makeTile(CoreState &core, const Step &step);

/// Sets the valid extents of a tile from the last operands of the step, as far as it has them.
void setValid(const Registers &registers, const Step &step, Tile &tile);

} // namespace ptl::rt::sim
