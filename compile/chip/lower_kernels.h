// From tile level to kernels of a chip whose buffers have addresses.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/chip/chip_search.h"
#include "compile/chip/stage_record.h"
#include "compile/tile_module.h"

#include <optional>

namespace ptl {

/// The result of an attempt to lower tiles.
struct LoweredKernels {
  SearchStep next; ///< `GoOn`: all fit; `Tile`: they may with the search's new tiles; or `GiveUp`
  /// The kernels as they were last lowered, with ledger and statements if all fit.
  ChipProgram program;
};

/// Lowers kernels with the options of `search`, and reports to it what does not fit, until all fit
/// or it has no other way for these tiles. `last`: kernels of an earlier attempt, which are reused
/// where they would be the same. `record` (may be null) gets the results of passes in the last
/// attempt. Nothing after an error.
std::optional<LoweredKernels> lowerKernels(const CompileContext &context, const TileModule &tiles,
                                           ChipSearch &search, block::BlockProgram last,
                                           StageRecord *record);

} // namespace ptl
