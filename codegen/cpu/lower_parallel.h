// Grids: the body becomes a function that the runtime calls on ranges of the flattened grid.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers a grid: in a program to a task, inside another grid to a loop.
void lowerParallel(Lowering &l, ir::ParallelOp op);

} // namespace ptl::cpu
