// Elementwise operations: how each element is computed from the operands' elements.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

bool isElementwise(mlir::Operation *op);
/// An estimate of the instructions that an element of any operation takes, without those for its
/// operands.
int64_t costOfOp(mlir::Operation *op);
/// The operation on operands in register form: scalars, or vectors of as many lanes each.
mlir::Value emitElementwise(const Emit &e, mlir::Operation *op, mlir::ValueRange operands);

} // namespace ptl::cpu
