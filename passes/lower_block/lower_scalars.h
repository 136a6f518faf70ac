// Elementwise operations on types that no instruction takes, by the scalar unit.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// An operation of the dialect on scalars. Null: the scalar unit does not have it.
mlir::Value lowerScalarArithmetic(KernelContext &c, mlir::Operation *op);
/// Elementwise operations that the scalar unit has.
InstructionPatterns elementPatterns();
/// A mask as a tile of 0 and 1.
Tile numbersOf(KernelContext &c, const Tile &mask, Location loc);
/// Numbers that are not 0, as a mask.
Tile maskOf(KernelContext &c, const Tile &numbers, Location loc);

} // namespace ptl::block
