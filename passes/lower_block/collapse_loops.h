// Collapses a nest of loops over a sum of products into one loop, so that operands are prefetched
// across the iterations of all loops.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Replaces each nest of loops by one loop, if the innermost one overlaps its iterations
/// (`pipeline`) and carries a sum of products, only scalars are computed between the loops, each
/// loop passes the sum to the next and receives it back, and all bounds are known before the nest.
void collapseLoops(ir::ParallelOp grid);

} // namespace ptl::block
