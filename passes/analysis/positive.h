// Proves that lengths are at least 1, and that numbers are small, by the operations that compute them.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// Whether an integer is known to be positive: constants, the length of a tile in a loop over an
/// axis, and sums, products, minima and maxima of such integers. Parameters and data may be 0.
bool isPositive(mlir::Value number);

/// Whether an axis of an array is known to be non-empty, by the operation that created the array or
/// by its operands: equal names stand for equal lengths.
bool hasElements(mlir::Value array, int64_t axis);

/// Whether an integer, read without a sign, is known to be less than `bound`: by the arithmetic that
/// computes it, a few operations back, and by the bounds of loops. Needs no facts of the program.
bool isKnownBelow(mlir::Value number, uint64_t bound);

/// Whether the count of a shift is known to be at least 0 and less than the bits of what is shifted,
/// so that the shift of the processor is that of the language.
bool isShiftedWithin(mlir::Value shifted, mlir::Value count);

} // namespace ptl::ir
