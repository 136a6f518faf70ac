// Finds the groups of tensor operations of a function, and has a grid made for each.
#pragma once

#include "passes/transform/groups/op_group.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Makes the grid that computes and stores the roots of these groups: one group, or several that a
/// schedule fuses. Grids are numbered from 0.
using EmitGrid = llvm::function_ref<void(llvm::ArrayRef<OpGroup *> groups, unsigned number)>;

/// Partitions the code outside grids into groups, each as large as `limits` allow, and has a grid
/// made for each in program order. Operations that are dead afterwards are erased.
void makeGrids(mlir::func::FuncOp function, const GroupLimits &limits, EmitGrid emitGrid);

} // namespace ptl::ir
