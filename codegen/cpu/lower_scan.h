// Scans: running sums, products, maxima and minima along an axis.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes what a scan gives. False: the operation is none.
bool produceScan(Lowering &l, mlir::Operation *op, const View &dest);

} // namespace ptl::cpu
