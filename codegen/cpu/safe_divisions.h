// Divisions of positions that cannot trap.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace ptl::cpu {

/// Processors trap when an integer is divided by 0, or the smallest one by -1. This pass rewrites
/// divisions of positions (type `index`) whose divisor may be 0 or -1, so that they give some
/// number instead: the dividend, or its negative.
void makeDivisionsSafe(mlir::ModuleOp module);

} // namespace ptl::cpu
