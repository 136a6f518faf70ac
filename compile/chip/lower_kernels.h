// From tile level to kernels of a chip whose buffers are placed.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/chip/chip_search.h"
#include "compile/chip/stage_record.h"
#include "compile/tile_module.h"

#include <optional>

namespace ptl {

/// What became of an attempt to lower tiles.
struct LoweredKernels {
  SearchStep next; ///< `GoOn`: all fit; `Tile`: with the search's tiles they may; or `GiveUp`
  /// The kernels as they were lowered last; with ledger and statements where all fit.
  ChipProgram program;
};

/// Lowers kernels as `search` says, and tells it what does not fit, until all fit or it has no other
/// way for these tiles. `last`: kernels of an earlier attempt, which are taken where they would be
/// the same. `record` (null: nobody asks) gets what passes make in the last attempt. Nothing after
/// an error.
std::optional<LoweredKernels> lowerKernels(const CompileContext &context, const TileModule &tiles,
                                           ChipSearch &search, block::BlockProgram last,
                                           StageRecord *record);

} // namespace ptl
