// Reductions.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a reduction. Returns false, and emits nothing, for other operations.
bool produceReduction(Lowering &l, mlir::Operation *op, const View &dest);
/// The result of a reduction to a scalar; null for other operations.
mlir::Value reducedScalar(Lowering &l, mlir::Operation *op);

/// Elements that cost more than this are computed one vector at a time.
constexpr int64_t kCheapToFold = 6;

/// The positions of `count` rows along an axis. What varies only with the row is emitted once for each row, not for each vector.
Values rowsFrom(Lowering &l, mlir::Value operand, Coords &at, int64_t axis, mlir::Value first,
                int64_t count);

} // namespace ptl::cpu
