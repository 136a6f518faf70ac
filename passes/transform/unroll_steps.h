// Short loops of programs that compute arrays step by step.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Which loops are short.
struct UnrollLimits {
  int64_t rounds;     ///< of a loop, at most
  int64_t operations; ///< of all rounds together, at most
};
/// More would make code that takes longer to compile than passes over memory take.
inline constexpr UnrollLimits kUnrolledOnCpu = {32, 512};
/// Each round has buffers of its own, which have to fit beside each other.
inline constexpr UnrollLimits kUnrolledOnChip = {4, 128};

/// `for i in 0..3 { acc = acc + x[i:i + N] * w[i] }` as it stands is a pass over memory for each round. Where the numbers of the rounds
/// are known and few, and a round only computes elements of arrays from elements of arrays, the rounds are written one after the other,
/// so that one grid computes them all.
void unrollSteps(mlir::func::FuncOp function, const UnrollLimits &limits);

} // namespace ptl::ir
