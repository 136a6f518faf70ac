// Grids as functions of their own: what a kernel is made of, and what the host launches.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ptl::block {

/// Arguments of outlined functions: what the kernel does with an array (`in`, `out`, `inout`), and
/// which length of types a number is; of other numbers what they are computed from
/// (`ir::formulaOf`). `ptl.name` is the name of each.
inline constexpr llvm::StringLiteral kRoleAttr = "ptl.role";
inline constexpr llvm::StringLiteral kLengthAttr = "ptl.length";
inline constexpr llvm::StringLiteral kFormulaAttr = "ptl.formula";

/// Of an outlined function and of the functions for its cores: the relations among lengths that the
/// host has checked before it launches, as text (`ir::relationOf`).
inline constexpr llvm::StringLiteral kCheckedAttr = "ptl.checked";

/// The grids of a function that become kernels, in order; a grid inside a grid is part of its
/// kernel.
llvm::SmallVector<ir::ParallelOp> kernelGrids(mlir::func::FuncOp function);

/// The name of kernel `number` of so many.
std::string kernelName(mlir::func::FuncOp function, size_t number, size_t count);

/// Moves a grid into a new function at the end of `into`, and launches it where it was. The
/// function takes all that the grid used from outside but constants: arrays, then lengths of these,
/// then other numbers. What is computed from lengths alone is computed in it again.
mlir::func::FuncOp outlineGrid(ir::ParallelOp grid, llvm::StringRef name, mlir::ModuleOp into);

/// The grid of such a function.
ir::ParallelOp gridOf(mlir::func::FuncOp outlined);

} // namespace ptl::block
