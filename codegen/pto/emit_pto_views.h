// Prints operations on global memory and on cores as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a view of global memory, a pointer, an access to one element, a trap, or the number of a
/// core. Returns false, and prints nothing, for any other operation.
bool emitView(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
