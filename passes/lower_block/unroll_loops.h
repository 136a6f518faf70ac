// Unrolls loops with `unroll`.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Whether some loop of the grid has `unroll`.
bool saysUnroll(ir::ParallelOp grid);

/// Unrolls the loops with `unroll`, except for those that products accumulate in: the accumulator
/// belongs to the loop, and steps of a product overlap already. An `unroll` without effect is
/// reported, and the result is false.
bool unrollLoops(ir::ParallelOp grid, const Report &report);

} // namespace ptl::block
