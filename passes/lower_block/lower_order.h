// Orderings, scans and reductions by elements.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Sorting, searching and scans.
InstructionPatterns orderPatterns();
/// What does not change a sum, a product, a largest or a smallest value.
Value identityOf(KernelContext &c, llvm::StringRef how, Type element);
/// A reduction, element by element.
void reduceByElements(KernelContext &c, Operation *op);

} // namespace ptl::block
