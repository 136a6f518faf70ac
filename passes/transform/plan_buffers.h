// Gives each buffer of the block level its address.
#pragma once

#include "machines/machine.h"
#include "passes/analysis/buffer_overflow.h"

#include "mlir/IR/BuiltinOps.h"

namespace ptl::block {

struct PlanOptions {
  bool apply = true;  ///< else the module stays as it is, and only the ledger is made
  bool tight = false; ///< share bytes wherever that is right, also where all would fit apart
};

/// Places the buffers of every function of the module, each memory by itself, and writes the
/// addresses into the IR: `addr` of `alloc_tile` and `alloc_multi_tile`, `base` of
/// `reserve_buffer`. What has an address already keeps it. The ledger is complete also when
/// something does not fit; then nothing is written, and the first memory that is too small is
/// returned.
std::optional<Overflow> planBuffers(mlir::ModuleOp module, const Machine &machine,
                                    BufferLedger &ledger, const PlanOptions &options = {});

} // namespace ptl::block
