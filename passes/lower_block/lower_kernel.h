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

/// The program with other options for kernels than `before` has, which was made of the same module
/// and is taken from: the kernels whose options are others are made again where they are launched.
/// `uncut` (`before` stays) or nothing after an error as in `lowerToBlocks`.
std::optional<BlockProgram> lowerAgain(mlir::ModuleOp module, const Machine &machine,
                                       llvm::ArrayRef<LowerOptions> options,
                                       const ir::Simplifier &simplifier, const Report &report,
                                       BlockProgram &before);

/// Names what the host cannot do of what is left to it. False if there is such.
bool checkHost(mlir::func::FuncOp host, const Machine &machine, const Report &report);

} // namespace ptl::block
