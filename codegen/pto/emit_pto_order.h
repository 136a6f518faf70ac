// Prints synchronisation as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a flag between pipes, an event between cores, or a barrier. Returns false, and prints
/// nothing, for any other operation.
bool emitOrder(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
