// Prints what speaks of global memory and of cores as C++.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// Prints a view of global memory, an access to one element, a trap, or the number of a core. Returns
/// false for any other operation, of which it prints nothing.
bool emitView(CppCode &code, mlir::Operation *op);

} // namespace ptl::pto
