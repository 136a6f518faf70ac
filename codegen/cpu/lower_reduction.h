// Reductions, and searches for the position of the largest or smallest element.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes what a reduction gives. False: the operation is none.
bool produceReduction(Lowering &l, mlir::Operation *op, const View &dest);
/// The result of a reduction to a scalar; null: the operation is none.
mlir::Value reducedScalar(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
