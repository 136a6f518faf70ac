// Along which axis the tiles of a kernel are cut, and into how many parts.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// The grid with its tiles in parts as the options say: itself if they ask for none, null if that
/// cannot be. Only what products take part in is cut; other tiles are the author's.
/// `told`: what was cut.
ir::ParallelOp cutTiles(ir::ParallelOp grid, const LowerOptions &options,
                        std::optional<LedgerParts> &told);

} // namespace ptl::block
