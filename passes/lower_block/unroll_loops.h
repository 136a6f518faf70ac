// Loops that say `unroll`.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether some loop of the grid says that it is unrolled.
bool saysUnroll(ir::ParallelOp grid);

/// Unrolls the loops that ask for it, but not those that products accumulate in: the accumulator
/// belongs to the loop, and steps of a product overlap already. False after reporting an `unroll`
/// without effect.
bool unrollLoops(ir::ParallelOp grid, const Report &report);

} // namespace ptl::block
