// Divisions of positions that never trap.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace ptl::cpu {

/// Processors stop a process that divides an integer by 0, or the smallest one by -1. From here on
/// a division of positions (type `index`) whose divisor may be one of these gives some number
/// instead: what is divided, or its negative.
void makeDivisionsSafe(mlir::ModuleOp module);

} // namespace ptl::cpu
