// Grids as functions of their own: what a kernel is made of, and what the host launches.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ptl::block {

/// The grids of a function that become kernels, in order; a grid inside a grid is part of its
/// kernel.
llvm::SmallVector<ir::ParallelOp> kernelGrids(mlir::func::FuncOp function);

/// The name of kernel `number` of so many.
std::string kernelName(mlir::func::FuncOp function, size_t number, size_t count);

/// Moves a grid into a new function at the end of `into`, and launches it where it was. The
/// function takes all that the grid used from outside but constants: arrays, then lengths of these,
/// then other numbers. What is computed from lengths alone is computed in it again. Each argument says
/// what it is: `ptl.name`, and `ptl.role` of an array, `ptl.length` or `ptl.formula` of a number.
mlir::func::FuncOp outlineGrid(ir::ParallelOp grid, llvm::StringRef name, mlir::ModuleOp into);

/// The grid of such a function.
ir::ParallelOp gridOf(mlir::func::FuncOp outlined);

} // namespace ptl::block
