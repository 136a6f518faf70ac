// Expresses tensor operations that are not arithmetic by reads and writes of boxes of storage.
// Afterwards every array outside grids is either computed in tiles or stored.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Rewrites the code outside grids: `concat`, `pad`, `insert`, `gather`, `scatter`, triangles,
/// sorting along long axes, means, reductions to scalars and of booleans; first of all the
/// variables of loops and branches (`storeCarried`). Afterwards every store's value has the shape
/// of its box and a defining operation of its own. `tileBytes`: of the largest tile. `machine`: its
/// instructions decide how elements are gathered from long rows; null: one by one.
void expandTensors(mlir::func::FuncOp function, int64_t tileBytes, const Machine *machine);

/// Turns products in index notation and products with vectors into products of matrices.
void expandProducts(mlir::func::FuncOp function);

} // namespace ptl::ir
