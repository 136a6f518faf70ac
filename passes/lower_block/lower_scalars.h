// Elementwise operations on types that no instruction takes, by the scalar unit.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// An operation of the dialect on scalars. Null: the scalar unit does not have it.
mlir::Value lowerScalarArithmetic(KernelContext &c, mlir::Operation *op);
/// An operation on tiles, element by element. False: the scalar unit does not have it.
bool lowerByElements(KernelContext &c, Operation *op);
/// A mask as a tile of 0 and 1.
Tile numbersOf(KernelContext &c, const Tile &mask, Location loc);
/// Numbers that are not 0, as a mask.
Tile maskOf(KernelContext &c, const Tile &numbers, Location loc);

} // namespace ptl::block
