// Prints what makes tiles as C++: buffers, slots, windows and other views of them.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// Prints an operation that makes a tile, sets its lengths or reads an element of it. Returns false
/// for any other operation, of which it prints nothing.
bool emitBuffer(CppCode &code, mlir::Operation *op);

} // namespace ptl::pto
