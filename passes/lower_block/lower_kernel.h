// Lowers one outlined grid to a kernel.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::block {

/// A module with one or two functions of the block level, lowered from a function that
/// `outlineGrid` made. Null after an error, which is reported.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernel(mlir::func::FuncOp outlined, const Machine &machine,
                                              const LowerOptions &options,
                                              const ir::Simplifier &simplifier,
                                              const Report &report);

/// Reports operations that the host cannot execute. False if there are any.
bool checkHost(mlir::func::FuncOp host, const Machine &machine, const Report &report);

} // namespace ptl::block
