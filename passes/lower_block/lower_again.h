// Lowers a kernel again with other choices.
#pragma once

#include "passes/lower_block/lower_kernel.h"

namespace ptl::block {

/// Lowers the program with other options for some kernels. `before` must have been made from the
/// same module and is consumed: only kernels with changed options are lowered again. As in
/// `lowerToBlocks`, the result may have `uncut`, and then `before` stays valid; the result is
/// nothing after an error.
std::optional<BlockProgram> lowerAgain(mlir::ModuleOp module, const Machine &machine,
                                       llvm::ArrayRef<LowerOptions> options,
                                       const ir::Simplifier &simplifier, const Report &report,
                                       BlockProgram &before);

} // namespace ptl::block
