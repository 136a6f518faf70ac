// Prints queues between cores as C++.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// Prints a queue, or a push, a pop or a release. Returns false, and prints nothing, for any other
/// operation.
bool emitQueue(CppCode &code, mlir::Operation *op);

} // namespace ptl::pto
