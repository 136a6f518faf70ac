// Loops without a known number of turns, and checks.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Tiles go to the device's log; scalars as tiles of one element.
void lowerPrint(KernelContext &c, Operation *op);
/// A loop whose condition is arithmetic of scalars.
void lowerWhile(KernelContext &c, mlir::scf::WhileOp loop);
/// A branch that stops the kernel. Of a mixed kernel each core checks what it knows.
void lowerCheck(KernelContext &c, ir::CheckOp check);

} // namespace ptl::block
