// Sorting along long axes.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands a sort along an axis: if tiles cannot hold the axis, parts are sorted and merged through
/// storage.
void expandOrder(mlir::Operation *op, int64_t tileBytes);

} // namespace ptl::ir
