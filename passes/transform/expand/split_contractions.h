// Products that are split along the contracted axis.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Splits products of known lengths that have fewer tiles than the machine has core groups, and a
/// long contracted axis, into sums of products of its parts (split-K), if the predicted time is
/// shorter.
void splitContractions(mlir::func::FuncOp function, const Machine &machine);

} // namespace ptl::ir
