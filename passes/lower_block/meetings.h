// Finds the meetings of a grid: the places where the cores of a group synchronise, because they
// access the same global memory.
#pragma once

#include "passes/lower_block/assign_cores.h"

namespace ptl::block {

/// Finds the meetings of a mixed kernel whose operations have been assigned to cores.
void findMeetings(ir::ParallelOp grid, CoreAssignment &cores);

/// Whether there is a meeting nested in an operation.
bool meetsInside(mlir::Operation *op, const CoreAssignment &cores);

} // namespace ptl::block
