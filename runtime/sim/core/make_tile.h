// Tiles in a core's memory: the steps that say where they lie and which form they have.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Makes the tile of a step that allocates or declares one, or takes a slot, a window or an alias
/// of another one. False after an error.
bool makeTile(CoreState &core, const Step &step);

/// Sets how much of a tile is valid, as far as the step says so: with its last operands.
void setValid(const Registers &registers, const Step &step, Tile &tile);

} // namespace ptl::rt::sim
