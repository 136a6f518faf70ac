// Lowers loops with an unknown number of iterations, and checks.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers a loop whose condition is arithmetic on scalars.
void lowerWhile(KernelContext &c, mlir::scf::WhileOp loop);
/// Lowers a check to a branch that stops the kernel. In a mixed kernel each core checks the
/// conditions that it can compute.
void lowerCheck(KernelContext &c, ir::CheckOp check);

} // namespace ptl::block
