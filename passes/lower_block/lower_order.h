// Lowers sorting and searching, scans, and reductions element by element.
#pragma once

#include "ir/ops/op_table.h"
#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Patterns for sorting, searching and scans.
InstructionPatterns orderPatterns();
/// The identity element of a combiner (`OpId::Add`) on an element type.
Value identityOf(KernelContext &c, OpId combiner, Type element);
/// Lowers a reduction element by element.
void reduceByElements(KernelContext &c, Operation *op);

} // namespace ptl::block
