// Prints what speaks of global memory and of cores as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a view of global memory, a pointer, an access to one element, a trap, or the number of a
/// core. Returns false for any other operation, of which it prints nothing.
bool emitView(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
