// Passes scalars that the vector cores compute to the cube core: conditions, bounds of loops and
// positions that come from tiles.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

namespace ptl::block {

/// Each such scalar is stored to global memory, and all cores of a group read it from there before
/// its first use. The scalar unit of the cube core cannot read anything else that the vector cores
/// write, and all cores then have the same value. Each point of the grid has a place, in blocks of
/// its own. `number` is the grid's number in its function.
void handNumbers(ir::ParallelOp grid, size_t number, const Machine &machine);

} // namespace ptl::block
