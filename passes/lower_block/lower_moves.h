// Lowers operations that move elements.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Patterns for operations that move elements.
InstructionPatterns movePatterns();
/// Binds the lengths that a load or slice names, on a core that does not execute it.
void bindLengths(KernelContext &c, Operation *op);
/// An operand as a tile with lengths. Nothing after an error.
std::optional<ShapedTile> sourceOf(KernelContext &c, Operation *op, Value operand);
/// The result as a tile with lengths, in a buffer of its own. Nothing after an error.
std::optional<ShapedTile> newResult(KernelContext &c, Operation *op, unsigned number = 0);
/// Lowers a part of a tile by moving its elements.
void sliceByMoves(KernelContext &c, Operation *op, const Tile &source);
/// Broadcasts a tile from one array type to another, by repeating axes of extent 1.
Tile spread(KernelContext &c, const Tile &tile, Type from, Type to, Operation *op);

} // namespace ptl::block
