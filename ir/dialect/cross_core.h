// Events between the cube core and the vector cores of a group. Only manual kernels have them, and
// kernels whose cores access the same global memory.
#pragma once

#include "ir/dialect/pto_dialect.h"

#define GET_OP_CLASSES
#include "ir/dialect/cross_core.h.inc"

namespace ptl::pto {

/// Whether a function signals other cores or waits for them.
bool hasCoreEvents(mlir::Operation *function);
/// Whether some queue of a function passes whole tiles (`nosplit`).
bool hasWholeTileQueues(mlir::Operation *function);

} // namespace ptl::pto
