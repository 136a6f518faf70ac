// Prints queues between cores as C++.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// Prints a queue, or a push, a pop or a release. Returns false for any other operation, of which it
/// prints nothing.
bool emitQueue(CppCode &code, mlir::Operation *op);

} // namespace ptl::pto
