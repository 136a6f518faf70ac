// From tensor level to the block level of a chip: tiles, lowers, assigns addresses, synchronises,
// and runs the prover.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/chip/stage_record.h"
#include "compile/tile_module.h"
#include "passes/analysis/buffer_overflow.h"

#include <memory>
#include <optional>

namespace ptl {

/// The code of an entry for a chip, or why there is none. Must not outlive its context.
struct ChipResult {
  std::optional<ChipProgram> program;  ///< nothing after an error, which is reported
  std::optional<Overflow> overflow;    ///< the memory that was too small, if that was the error
  std::unique_ptr<StageRecord> stages; ///< if `CompilerOptions::keepsStages`; else null
};

/// Kernels of the block level for the chip of the options, with addresses and synchronisation. They
/// have passed the prover: what it refutes is an error, so nothing that it refutes is ever
/// returned. `onPhase` sees every attempt to tile the entry; the last is the one that was lowered.
/// `inPipes`: values pass between cores only through pipes, as in kernels written by hand, which
/// have no memory besides their arrays.
ChipResult lowerToChip(const CompileContext &context, const BuiltEntry &entry,
                       const OnPhase &onPhase = {}, bool inPipes = false);

} // namespace ptl
