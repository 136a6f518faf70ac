// Numbers that the vector cores compute and the cube core needs: conditions, bounds of loops and
// positions that come from tiles.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

namespace ptl::block {

/// Each such number is stored to global memory and read from there, before its first use, by all
/// cores of a group: the scalar unit of the cube core reaches nothing else that the vector cores
/// write, and what all read is the same for all. There is a place for each point of the grid, in
/// blocks of their own. `number`: of the grid in its function.
void handNumbers(ir::ParallelOp grid, size_t number, const Machine &machine);

} // namespace ptl::block
