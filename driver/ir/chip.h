// What a chip gets of an entry.
#pragma once

#include "driver/ir/compiler.h"
#include "passes/analysis/buffer_ledger.h"
#include "passes/prover/prover.h"
#include "passes/transform/derive_sync.h"

#include <vector>

namespace ptl {

struct ChipProgram {
  block::BlockProgram program;
  BufferLedger ledger;               ///< of all kernels
  std::vector<pto::SyncResult> sync; ///< of all functions, in order
  prove::ProofResult proof;          ///< of all kernels: no faults, else there is no program
  /// How often tiles of tensor-level code were halved, by group (`ir::PipelineOptions`).
  std::vector<int64_t> halvings;
};

/// The same kernels and host code again, for who changes them.
ChipProgram copyOf(const ChipProgram &program);

/// Takes away what kernels require of their arguments, which the prover reads and the host checks,
/// before they are written or run.
void dropRequirements(mlir::ModuleOp kernel);

/// The innermost place in the source that a location stands for.
Span spanOf(mlir::Location location);

} // namespace ptl
