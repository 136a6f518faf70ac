// Finds the groups of tensor operations of a function and has a grid made of each.
#pragma once

#include "passes/transform/groups/op_group.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Makes the grid that computes and stores the roots of these groups: one, or several that a
/// schedule fuses. Grids are numbered from 0.
using EmitGrid = llvm::function_ref<void(llvm::ArrayRef<OpGroup *> groups, unsigned number)>;

/// Cuts the code outside of grids into groups, as far as `limits` let them grow, and has a grid made
/// of each in the order of the program. What is dead then is erased.
void makeGrids(mlir::func::FuncOp function, const GroupLimits &limits, EmitGrid emitGrid);

} // namespace ptl::ir
