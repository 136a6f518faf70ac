// Lowers blocks and branches, and calls the functions that lower the operations in them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers all operations of a block except its terminator, whose operands the block's owner reads.
void lowerBlock(Lowering &l, mlir::Block &block);
void lowerOp(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
