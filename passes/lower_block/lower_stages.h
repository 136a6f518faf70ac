// Loops of which a part runs some iterations ahead.
#pragma once

#include "passes/lower_block/kernel_context.h"
#include "passes/lower_block/loop_stages.h"

namespace ptl::block {

/// for i { if i is a turn: ahead(i) ; if i - n is one: behind(i - n) }, with n turns more.
void lowerInStages(KernelContext &c, mlir::scf::ForOp loop, const LoopStages &stages,
                   CarriedTiles tiles);

} // namespace ptl::block
