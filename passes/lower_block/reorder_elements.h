// Lowers operations whose result has all elements of the operand at other positions.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers a reshape of elements in the same order.
void lowerReshape(KernelContext &c, Operation *op);
/// Lowers a permutation of axes, or a reversal of elements.
void lowerPermutation(KernelContext &c, Operation *op);

} // namespace ptl::block
