// Scans: running sums, products, maxima and minima along an axis, and folds with a function of the program.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a scan. Returns false, and emits nothing, for other operations. `streamed`
/// is as for `evaluateInto`.
bool produceScan(Lowering &l, mlir::Operation *op, const View &dest, mlir::Value streamed = {});
/// The same for a fold with a function, which may have several results.
bool produceFold(Lowering &l, mlir::Operation *op, llvm::ArrayRef<View> dests);

} // namespace ptl::cpu
