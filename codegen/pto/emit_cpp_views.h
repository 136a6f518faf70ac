// Prints operations on global memory and on cores as C++.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// Prints a view of global memory, an access to one element, a trap, or the number of a core.
/// Returns false, and prints nothing, for any other operation.
bool emitView(CppCode &code, mlir::Operation *op);

} // namespace ptl::pto
