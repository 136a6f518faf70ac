// Cuts the work of the vector cores between products into slices of rows: they read tiles from queues
// and write them there slice by slice, while products and the slots of queues stay whole.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Cuts this work into as many slices of rows as the options say.
/// Each value that crosses to them is read by slices of it alone, and each one that crosses to the
/// cube core is a `concat` of slices. Returns the new grid; null if that is impossible, as where
/// queues do not lie in global memory, a value crosses outside of the loops whose rounds overlap, or
/// the rows are not dealt to the vector cores. `told` describes what was cut.
ir::ParallelOp sliceTiles(ir::ParallelOp grid, const LowerOptions &options, const Machine &machine,
                          std::optional<LedgerParts> &told);

} // namespace ptl::block
