// Cuts the work of the vector cores between products into slices of rows: they read tiles from
// queues and write them to queues slice by slice, while products and the slots of queues stay
// whole.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Cuts this work into as many slices of rows as the options require. Each value that passes to the
/// vector cores is then read only by slices, and each one that passes to the cube core is a
/// `concat` of slices. Returns the new grid; null if that is impossible, for instance because
/// queues do not lie in global memory, a value passes outside the loops whose iterations overlap,
/// or the rows are not split between the vector cores. `told` describes what was cut.
ir::ParallelOp sliceTiles(ir::ParallelOp grid, const LowerOptions &options, const Machine &machine,
                          std::optional<LedgerParts> &told);

} // namespace ptl::block
