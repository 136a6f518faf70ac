// Queues between the two kinds of cores.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Prints an operation on a queue, or adds the queue to the shared names. Returns false, and prints
/// nothing, for any other operation.
bool printQueueing(BlockCode &code, mlir::Operation *op);

} // namespace ptl::source
