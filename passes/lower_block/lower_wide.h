// Lowers arithmetic of integers that are wider than the words of vector instructions.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Sums and differences of integers of 64 bits.
InstructionPatterns widePatterns();

} // namespace ptl::block
