// Short loops of programs that compute arrays step by step.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `for i in 0..3 { acc = acc + x[i:i + N] * w[i] }` as it stands is a pass over memory for each round. Where the numbers of the rounds
/// are known and few, and a round only computes elements of arrays from elements of arrays, the rounds are written one after the other,
/// so that one grid computes them all.
void unrollSteps(mlir::func::FuncOp function);

} // namespace ptl::ir
