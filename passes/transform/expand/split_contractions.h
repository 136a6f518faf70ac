// Products that are split along the contracted axis.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

#include <optional>

namespace ptl::ir {

/// Splits products of known lengths that have fewer tiles than the machine has core groups, and a
/// long contracted axis, into sums of products of its parts (split-K), if the predicted time is
/// shorter.
void splitContractions(mlir::func::FuncOp function, const Machine &machine);

/// The contracted length from which on pieces for all core groups take less time than one core group
/// does for a product with one tile, whose other lengths may be unknown; nothing if none does.
std::optional<int64_t> leastSplitLength(MatmulOp product, const Machine &machine);

} // namespace ptl::ir
