// Lowers reductions to vector instructions.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Reductions.
InstructionPatterns reductionPatterns();

} // namespace ptl::block
