// Reductions, and the search for the position of the largest or smallest element (argmax, argmin).
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a reduction. Returns false, and emits nothing, for other operations.
bool produceReduction(Lowering &l, mlir::Operation *op, const View &dest);
/// The result of a reduction to a scalar; null for other operations.
mlir::Value reducedScalar(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
