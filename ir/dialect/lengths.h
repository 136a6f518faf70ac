// Finds the values that hold the lengths of axes.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// The value that holds the length of an axis whose length is not constant: an operand of the
/// operation that creates the array, or the argument for the dimension; null if there is none.
mlir::Value knownLength(mlir::Value array, unsigned axis);

} // namespace ptl::ir
