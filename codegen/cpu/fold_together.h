// Reductions that share one pass, because they read the same arrays.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Computes a reduction together with those of its block that have been defined, fold along the same axes and read the same arrays, each into
/// memory of its own. Returns false, and emits nothing, where there are no others.
bool foldTogether(Lowering &l, mlir::Operation *op);
/// The same for what a store writes, where that is a reduction whose axes are dropped, or kept.
void foldStored(Lowering &l, mlir::Value stored);

} // namespace ptl::cpu
