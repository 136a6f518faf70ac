// Operations whose results are scalars.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Emits the operation at the current place and binds its results.
void lowerScalarOp(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
