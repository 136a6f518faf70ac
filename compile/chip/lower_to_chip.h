// From tensor level to the block level of a chip: tiled, lowered, placed, synchronised, judged.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/chip/stage_record.h"
#include "compile/tile_module.h"
#include "passes/analysis/buffer_overflow.h"

#include <memory>
#include <optional>

namespace ptl {

/// What a chip gets of an entry, or why it gets nothing. Must not outlive its context.
struct ChipResult {
  std::optional<ChipProgram> program;  ///< nothing after an error, which is reported
  std::optional<Overflow> overflow;    ///< what was too small, where that was the error
  std::unique_ptr<StageRecord> stages; ///< where `CompilerOptions::keepsStages` asks; else null
};

/// Kernels of the block level for the chip of the options, with buffers placed and synchronised, and
/// judged by the prover: what it refutes is an error, so this gives nothing that the prover refutes.
/// `onPhase` sees every attempt to tile the entry; the last is the one that was lowered. `inPipes`:
/// values go between cores through pipes alone, as in kernels by hand, which have no memory beside
/// their arrays.
ChipResult lowerToChip(const CompileContext &context, const BuiltEntry &entry,
                       const OnPhase &onPhase = {}, bool inPipes = false);

} // namespace ptl
