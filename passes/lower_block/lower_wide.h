// Lowers arithmetic of integers that are wider than the words of vector instructions.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Sums and differences of integers of 64 bits, and shifts by a known number of bits.
InstructionPatterns widePatterns();
/// Fills a tile of such integers with one scalar. False, and nothing is emitted, for other tiles and machines.
bool fillWide(KernelContext &c, const Tile &tile, Value scalar, Location loc);

} // namespace ptl::block
