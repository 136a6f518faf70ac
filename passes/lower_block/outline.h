// Outlines grids into functions, from which kernels are made, and which the host launches.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ptl::block {

/// The grids of a function that become kernels, in order; a grid nested in a grid is part of its
/// kernel.
llvm::SmallVector<ir::ParallelOp> kernelGrids(mlir::func::FuncOp function);

/// The name of kernel number `number` of `count`.
std::string kernelName(mlir::func::FuncOp function, size_t number, size_t count);

/// Moves a grid into a new function at the end of `into`, and replaces it by a launch. The function
/// takes all values that the grid used from outside, except constants: arrays, then their lengths,
/// then other numbers. Values that depend only on lengths are recomputed inside.
mlir::func::FuncOp outlineGrid(ir::ParallelOp grid, llvm::StringRef name, mlir::ModuleOp into);

/// The grid of an outlined function.
ir::ParallelOp gridOf(mlir::func::FuncOp outlined);

} // namespace ptl::block
