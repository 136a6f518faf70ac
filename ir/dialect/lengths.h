// Lengths of axes that values say.
#pragma once

#include "mlir/IR/Value.h"

namespace ptl::ir {

/// The value that says the length of an axis that is no number: an operand of what makes the array,
/// or the argument for the dimension; null if there is none.
mlir::Value knownLength(mlir::Value array, unsigned axis);

} // namespace ptl::ir
