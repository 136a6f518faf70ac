// Accesses of the scalar unit itself: to elements of arrays and of tiles.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Loads or stores an element of an array. If its position depends on missing data, the value is
/// unknown and nothing is written. False after an error.
bool accessScalar(CoreState &core, const Step &step);

/// Reads an element of a tile, which is unknown if only times are computed. False after an error.
bool getValue(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
