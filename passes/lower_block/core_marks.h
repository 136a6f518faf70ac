// Records the core assignment of a grid as attributes, which people read, tests compare, and the
// lowering uses.
#pragma once

#include "passes/lower_block/assign_cores.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Assigns cores to the operations of a grid, and records the result. The sections of manual
/// kernels determine it there.
void markCores(ir::ParallelOp grid);

/// Reads the assignment from the attributes of a grid.
CoreAssignment markedCores(ir::ParallelOp grid);

/// Checks that the attributes are there and right. Products and the operations that accumulate them
/// are on the cube core; an operation with an effect is on one kind of core; a core reads only what
/// it computes, what it loads and what is handed to it; and a value that is handed over has the
/// axis that is dealt.
mlir::LogicalResult verifyCores(ir::ParallelOp grid);

} // namespace ptl::block
