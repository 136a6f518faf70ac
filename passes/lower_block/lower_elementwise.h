// Vector instructions.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// An operation on tiles, on the vector cores. False: there is no way.
bool lowerVector(KernelContext &c, Operation *op);
/// Operands as tiles of the result's shape, or narrower; scalars as splats.
std::optional<Tile> operandTile(KernelContext &c, mlir::Operation *op, mlir::Value operand);
/// The result of an operation as a tile that has no buffer yet.
std::optional<Tile> resultTile(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
