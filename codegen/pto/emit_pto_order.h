// Prints synchronisation as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a flag between pipes, an event between cores, or a barrier. Returns false for any other
/// operation, of which it prints nothing.
bool emitOrder(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
