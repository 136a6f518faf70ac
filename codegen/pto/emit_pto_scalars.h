// Prints arithmetic of scalars as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints an operation on scalars, by several operations where PTOAS has no equivalent. An
/// operation that is not arithmetic is reported as an error.
void emitScalar(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
