// Statements whose tiles are too large, computed in parts.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// What is stored and what is folded is computed in parts, in loops of their own, so that no tile
/// of such a computation takes more than so many bytes; tiles that are kept for other statements
/// stay whole. Of tiles that are only read in part, that part alone is computed.
void cutStatements(ir::ParallelOp grid, int64_t bytes);

} // namespace ptl::block
