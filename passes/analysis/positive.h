// Lengths that are at least 1 wherever they are computed, read off the tile level.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// Whether an integer is known to be above 0: constants, the rest of an axis in a loop over its
/// tiles, sums, products, minima and maxima of such. Parameters and what data says may be 0.
bool isPositive(mlir::Value number);

/// Whether an axis of an array is known to have an element, by what made the array, or what it is
/// computed from: one name stands for one length.
bool hasElements(mlir::Value array, int64_t axis);

} // namespace ptl::ir
