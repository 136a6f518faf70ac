// Stores that one loop over elements does, because their values are computed from the same ones.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The stores that follow `first` in its block, itself included, whose values one loop may compute, where that spares memory for what
/// several of them read; empty where it does not.
llvm::SmallVector<ir::StoreOp> storesOfOneLoop(Lowering &l, ir::StoreOp first);
/// Lowers them.
void lowerTogether(Lowering &l, llvm::ArrayRef<ir::StoreOp> stores);

} // namespace ptl::cpu
