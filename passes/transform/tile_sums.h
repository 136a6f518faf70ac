// Sums of products that a program's loops go through, tile by tile.
#pragma once

#include "passes/transform/groups/group_limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `for i in 0..9 { acc += a(i) @ b(i) }` would read and write the whole sum in each round. It becomes a grid over tiles of the sum, each
/// of which goes through all rounds, so that its sums stay near; there the CPU makes one product of the loop.
void tileSums(mlir::func::FuncOp function, const TileSizes &sizes);

} // namespace ptl::ir
