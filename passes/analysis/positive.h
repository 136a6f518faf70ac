// Proves that lengths are at least 1, at tile level.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// Whether an integer is known to be positive: constants, the length of a tile in a loop over an
/// axis, and sums, products, minima and maxima of such integers. Parameters and data may be 0.
bool isPositive(mlir::Value number);

/// Whether an axis of an array is known to be non-empty, by the operation that created the array or
/// by its operands: equal names stand for equal lengths.
bool hasElements(mlir::Value array, int64_t axis);

} // namespace ptl::ir
