// What the scalar unit reads and writes itself: elements of arrays and of tiles.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// A load or a store of an element of an array; where its place depends on data that is not there,
/// the value is unknown and nothing is written. False after an error.
bool accessScalar(CoreState &core, const Step &step);

/// An element of a tile, which is unknown where only times are wanted. False after an error.
bool getValue(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
