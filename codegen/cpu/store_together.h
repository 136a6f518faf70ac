// Stores that share one loop over elements, because their values are computed from the same
// operands.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The stores after `first` in its block, itself included, whose values one loop may compute, if
/// that avoids materialising an operand that several of them read; otherwise empty.
llvm::SmallVector<ir::StoreOp> storesOfOneLoop(Lowering &l, ir::StoreOp first);
/// Lowers the stores of `storesOfOneLoop`.
void lowerTogether(Lowering &l, llvm::ArrayRef<ir::StoreOp> stores);

} // namespace ptl::cpu
