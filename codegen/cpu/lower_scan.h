// Scans: running sums, products, maxima and minima along an axis.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a scan. Returns false, and emits nothing, for other operations. `streamed`
/// is as for `evaluateInto`.
bool produceScan(Lowering &l, mlir::Operation *op, const View &dest, mlir::Value streamed = {});

} // namespace ptl::cpu
