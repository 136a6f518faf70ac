// Prints operations that create tiles as `.pto`: buffers, slots, windows and other views of them.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints an operation that creates a tile, sets its valid extents or reads an element of it.
/// Returns false, and prints nothing, for any other operation.
bool emitBuffer(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
