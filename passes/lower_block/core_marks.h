// What `assign_cores` found, written down in the code: the split of a grid over the kinds of cores,
// as a person reads it, as tests compare it, and as the lowering takes it.
#pragma once

#include "passes/lower_block/assign_cores.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// Assigns cores to what a grid does, and says so by these attributes. Manual kernels say it
/// themselves, by their sections.
void markCores(ir::ParallelOp grid);

/// What the attributes of a grid say.
CoreAssignment markedCores(ir::ParallelOp grid);

/// Whether they are there and right, errors if not: products and what accumulates them are the cube
/// core's; what has an effect belongs to one kind of core; a core reads what it makes, what it
/// loads and what is handed to it, nothing else; what is handed over has the axis that is dealt.
mlir::LogicalResult verifyCores(ir::ParallelOp grid);

} // namespace ptl::block
