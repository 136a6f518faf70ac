// Lowers sorting operations, and the predicates on the order of data.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the results of `sort`, `argsort` and `topk`. Returns false, and emits nothing, for other
/// operations.
bool produceSort(Lowering &l, mlir::Operation *op, llvm::ArrayRef<View> dests);
/// `unique(x)` of one axis: x is sorted, and no two neighbours are equal.
mlir::Value uniqueFact(Lowering &l, mlir::Operation *op);
/// `sorted(x)`: no element is smaller than its predecessor.
mlir::Value sortedFact(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
