// Proves that lengths are at least 1 wherever they are computed, from the tile level.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// Whether an integer is known to be above 0: constants, the rest of an axis in a loop over its
/// tiles, and sums, products, minima and maxima of such integers. Parameters and numbers from data
/// may be 0.
bool isPositive(mlir::Value number);

/// Whether an axis of an array is known to have an element, by the operation that made the array,
/// or by what it is computed from: equal names stand for equal lengths.
bool hasElements(mlir::Value array, int64_t axis);

} // namespace ptl::ir
