// Sums of products over loops of a program, tile by tile.
#pragma once

#include "passes/transform/groups/group_limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `for i in 0..9 { acc += a(i) @ b(i) }` would read and write the whole sum in each iteration. It
/// becomes a grid over tiles of the sum, each of which executes all iterations, so that its sums
/// stay in caches; there the CPU makes a single contraction of the loop.
void tileSums(mlir::func::FuncOp function, const TileSizes &sizes);

} // namespace ptl::ir
