// Makes one loop of loops in loops that a sum of products goes through, so that operands are loaded
// ahead across the rounds of all of them.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Replaces each nest of loops by one loop, if the innermost one overlaps its rounds (`pipeline`)
/// and carries a sum of products, nothing but scalars is computed between the loops, each hands the
/// sum to the next and takes it back, and all bounds are known before the nest.
void collapseLoops(ir::ParallelOp grid);

} // namespace ptl::block
