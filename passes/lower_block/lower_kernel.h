// The kernel of one outlined grid.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::block {

/// A module with one or two functions of the block level, of a function that `outlineGrid` made.
/// Null after an error, which is reported.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernel(mlir::func::FuncOp outlined, const Machine &machine,
                                              const LowerOptions &options,
                                              const ir::Simplifier &simplifier,
                                              const Report &report);

/// Names what the host cannot do of what is left to it. False if there is such.
bool checkHost(mlir::func::FuncOp host, const Machine &machine, const Report &report);

} // namespace ptl::block
