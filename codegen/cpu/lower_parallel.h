// Grids: the body becomes a function that the runtime calls on ranges of the flattened grid.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// In a program a task; inside of another grid a loop.
void lowerParallel(Lowering &l, ir::ParallelOp op);

} // namespace ptl::cpu
