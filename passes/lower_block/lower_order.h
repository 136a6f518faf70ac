// Orderings, scans and reductions by elements.
#pragma once

#include "ir/ops/op_table.h"
#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Sorting, searching and scans.
InstructionPatterns orderPatterns();
/// What a combiner (`OpId::Add`) leaves other values of the element type as they are with.
Value identityOf(KernelContext &c, OpId combiner, Type element);
/// A reduction, element by element.
void reduceByElements(KernelContext &c, Operation *op);

} // namespace ptl::block
