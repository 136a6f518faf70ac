// Prints queues between cores as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a queue, its memory, or a push, a pop or a release. Returns false for any other operation,
/// of which it prints nothing.
bool emitQueue(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
