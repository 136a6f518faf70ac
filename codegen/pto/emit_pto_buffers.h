// Prints what makes tiles as `.pto`: buffers, slots, windows and other views of them.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints an operation that makes a tile, sets its lengths or reads an element of it. Returns false
/// for any other operation, of which it prints nothing.
bool emitBuffer(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
