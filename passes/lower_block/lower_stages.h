// Lowers loops of which one stage runs some iterations ahead of the other.
#pragma once

#include "passes/lower_block/kernel_context.h"
#include "passes/lower_block/loop_stages.h"

namespace ptl::block {

/// Emits `for i { if i is an iteration: ahead(i); if i - n is one: behind(i - n) }`, with n
/// additional iterations.
void lowerInStages(KernelContext &c, mlir::scf::ForOp loop, const LoopStages &stages,
                   CarriedTiles tiles);

} // namespace ptl::block
