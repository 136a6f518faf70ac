// Assigns addresses to the buffers of the block level.
#pragma once

#include "machines/machine.h"
#include "passes/analysis/buffer_overflow.h"

#include "mlir/IR/BuiltinOps.h"

namespace ptl::block {

struct PlanOptions {
  bool apply = true; ///< otherwise the module is not changed, and only the ledger is made
  /// share bytes wherever that is correct, even if all buffers would fit separately
  bool tight = false;
};

/// Assigns addresses to the buffers of every function of the module, separately for each memory,
/// and writes them into the IR: `addr` of `alloc_tile` and `alloc_multi_tile`, `base` of
/// `reserve_buffer`. Existing addresses are kept. The ledger is complete even if something does not
/// fit; then nothing is written, and the first memory that is too small is returned.
std::optional<Overflow> planBuffers(mlir::ModuleOp module, const Machine &machine,
                                    BufferLedger &ledger, const PlanOptions &options = {});

} // namespace ptl::block
