// Finds the values that hold lengths of axes.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// The value that holds the length of an axis, if the length is no number: an operand of the
/// operation that makes the array, or the argument for the dimension; null if there is none.
mlir::Value knownLength(mlir::Value array, unsigned axis);

} // namespace ptl::ir
