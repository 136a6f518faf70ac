// Logic, shifts and packed conditions; fills and copies of any type.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Logic, shifts, remainders and bit casts.
InstructionPatterns bitPatterns();
/// The buffer of a tile, viewed as words of another type.
Value wordsOf(KernelContext &c, Value buffer, Type element);
/// A tile's buffer, viewed as another element type of the same width, with the same valid part.
Value sameWidth(KernelContext &c, const Tile &tile, Type element);
/// Fills a tile with one scalar.
void fillWith(KernelContext &c, const Tile &tile, Value scalar, Location loc);
/// Copies a whole tile to another buffer of its type.
void copy(KernelContext &c, const Tile &from, const Tile &to, Location loc);

} // namespace ptl::block
