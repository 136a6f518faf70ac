// Finds what the cube core of a mixed kernel computes for itself: scalars, and the control flow
// around its products.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/lower_block/assign_cores.h"

namespace ptl::block {

/// What the cube core needs of a grid in addition to its products.
struct CubeNeeds {
  /// Bounds of loops, conditions of branches, lengths, and positions of its loads and stores; and
  /// the checks that depend on nothing that the vector cores compute.
  llvm::DenseSet<mlir::Value> scalars;
  /// The loops, branches and grids around its operations. The others are executed only by the
  /// vector cores.
  llvm::DenseSet<mlir::Operation *> control;
};

CubeNeeds needsOfCube(ir::ParallelOp grid, const CoreAssignment &cores);

/// Whether a scalar is an element or a reduction of tiles, so that only the vector cores have it. A
/// scalar in global memory is read by every core that needs it.
bool isNumberOfTiles(mlir::Value scalar);

} // namespace ptl::block
