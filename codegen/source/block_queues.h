// Queues between the two kinds of cores.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Prints an operation on a queue, or adds the queue to what both sides share. Returns false for any
/// other operation, of which it prints nothing.
bool printQueueing(BlockCode &code, mlir::Operation *op);

} // namespace ptl::source
