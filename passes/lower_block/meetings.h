// Where the cores of a group wait for each other, because they reach the same global memory.
#pragma once

#include "passes/lower_block/assign_cores.h"

namespace ptl::block {

/// Finds them for a mixed kernel whose operations have been assigned to cores.
void findMeetings(ir::ParallelOp grid, CoreAssignment &cores);

/// Whether the cores meet inside of an operation.
bool meetsInside(mlir::Operation *op, const CoreAssignment &cores);

} // namespace ptl::block
