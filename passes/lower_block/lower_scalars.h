// Lowers elementwise operations on types that no instruction supports, by the scalar unit.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Lowers an operation of the dialect on scalars. Null if the scalar unit lacks it.
mlir::Value lowerScalarArithmetic(KernelContext &c, mlir::Operation *op);
/// Patterns for elementwise operations that the scalar unit has.
InstructionPatterns elementPatterns();
/// A mask as a tile of 0 and 1.
Tile numbersOf(KernelContext &c, const Tile &mask, Location loc);
/// The mask of the numbers that are not 0.
Tile maskOf(KernelContext &c, const Tile &numbers, Location loc);

} // namespace ptl::block
