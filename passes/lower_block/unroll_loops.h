// Loops that say `unroll`.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether some loop of the grid says that it is unrolled.
bool saysUnroll(ir::ParallelOp grid);

/// Unrolls the loops that say so. Those that products accumulate in stay: the accumulator is of the
/// loop, and steps of a product overlap as they are. What is said in vain is told: false.
bool unrollLoops(ir::ParallelOp grid, const Report &report);

} // namespace ptl::block
