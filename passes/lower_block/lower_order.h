// Lowers orderings, scans and reductions by elements.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Sorting, searching and scans.
InstructionPatterns orderPatterns();
/// The identity element of a sum, a product, a maximum or a minimum.
Value identityOf(KernelContext &c, llvm::StringRef how, Type element);
/// Lowers a reduction element by element.
void reduceByElements(KernelContext &c, Operation *op);

} // namespace ptl::block
