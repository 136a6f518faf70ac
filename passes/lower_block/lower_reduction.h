// Lowers reductions to vector instructions.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Patterns for reductions.
InstructionPatterns reductionPatterns();

} // namespace ptl::block
