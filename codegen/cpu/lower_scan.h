// Scans: running sums, products, maxima and minima along an axis.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a scan. False if the operation is none. `streamed` is as for `evaluateInto`.
bool produceScan(Lowering &l, mlir::Operation *op, const View &dest, mlir::Value streamed = {});

} // namespace ptl::cpu
