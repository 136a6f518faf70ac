// Statements: blocks and branches, and which function lowers what stands in them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// All operations of a block but its terminator, whose operands its owner reads.
void lowerBlock(Lowering &l, mlir::Block &block);
void lowerOp(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
