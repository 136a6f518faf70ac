// Lowers orderings, and facts about the order of data.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the results of `sort`, `argsort` and `topk`. False if the operation is none of them.
bool produceSort(Lowering &l, mlir::Operation *op, llvm::ArrayRef<View> dests);
/// `unique(x)` of one axis: sorted, no two neighbours are equal.
mlir::Value uniqueFact(Lowering &l, mlir::Operation *op);
/// `sorted(x)`: no element is below the one before it.
mlir::Value sortedFact(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
