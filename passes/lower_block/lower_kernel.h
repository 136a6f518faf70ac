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

/// Lowers the program with other options for some kernels. `before` must have been made from the
/// same module and is consumed: only kernels with changed options are lowered again. As in
/// `lowerToBlocks`, the result may have `uncut`, and then `before` stays valid; the result is
/// nothing after an error.
std::optional<BlockProgram> lowerAgain(mlir::ModuleOp module, const Machine &machine,
                                       llvm::ArrayRef<LowerOptions> options,
                                       const ir::Simplifier &simplifier, const Report &report,
                                       BlockProgram &before);

/// Reports operations that the host cannot execute. False if there are any.
bool checkHost(mlir::func::FuncOp host, const Machine &machine, const Report &report);

} // namespace ptl::block
