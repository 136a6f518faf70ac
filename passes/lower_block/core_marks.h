// Records the core assignment of a grid as attributes: for readers of the IR, for tests, and for
// the lowering.
#pragma once

#include "passes/lower_block/assign_cores.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Assigns cores to the operations of a grid, and records the result. In manual kernels the
/// sections determine the assignment.
void markCores(ir::ParallelOp grid);

/// Reads the assignment from the attributes of a grid.
CoreAssignment markedCores(ir::ParallelOp grid);

/// Verifies that the attributes are present and consistent. Products and the operations that
/// accumulate them are on the cube core; an operation with a side effect is on one kind of core; a
/// core reads only values that it computes, loads or receives; and a value that is passed between
/// cores has the axis that is split between the vector cores.
mlir::LogicalResult verifyCores(ir::ParallelOp grid);

} // namespace ptl::block
