// Elements that are written by position one after the other, so that the last of equal positions counts.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands a `scatter`: rows are independent, and a row's positions are gone along in order.
void scatterByElements(ScatterOp scatter);
/// Expands a store through positions, for any box and value.
void storeByElements(StoreOp store);

} // namespace ptl::ir
