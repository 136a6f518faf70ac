// Prints queues between cores as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a queue, its memory, or a push, a pop or a release. Returns false, and prints nothing,
/// for any other operation.
bool emitQueue(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
