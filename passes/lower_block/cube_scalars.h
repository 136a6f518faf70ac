// Scalars that the cube core of a mixed kernel computes for itself.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/lower_block/assign_cores.h"

namespace ptl::block {

/// What the cube core needs of the scalars of a grid: bounds of loops, conditions of branches,
/// lengths, and positions of what it loads and stores; and the checks that depend on nothing that
/// the vector cores compute.
llvm::DenseSet<mlir::Value> scalarsOfCube(ir::ParallelOp grid, const CoreAssignment &cores);

} // namespace ptl::block
