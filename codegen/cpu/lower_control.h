// Lowers blocks and branches, and dispatches the operations in them to the functions that lower
// them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers all operations of a block but its terminator, whose operands the caller reads.
void lowerBlock(Lowering &l, mlir::Block &block);
void lowerOp(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
