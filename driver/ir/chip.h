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
  int tileShift = 0;                 ///< tiles of tensor-level code were halved so often
};

/// The innermost place in the source that a location stands for.
Span spanOf(mlir::Location location);

} // namespace ptl
