// Prints arithmetic of scalars as `.pto`.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints an operation on scalars, by several where PTOAS has no form for it. An operation that is no
/// arithmetic is reported.
void emitScalar(PtoCode &code, mlir::Operation *op);

} // namespace ptl::pto
