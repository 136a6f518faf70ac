// Lowers elementwise operations to vector instructions.
#pragma once

#include "passes/lower_block/select_instructions.h"

namespace ptl::block {

/// Patterns for elementwise operations that the machine has an instruction for, on their element
/// types.
InstructionPatterns elementwisePatterns();
/// The operand as a tile of the result's shape, or of a shape that broadcasts to it; a scalar as a
/// splat.
std::optional<Tile> operandTile(KernelContext &c, mlir::Operation *op, mlir::Value operand);
/// The result of an operation as a tile without a buffer.
std::optional<Tile> resultTile(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
