// Unrolls short loops that compute arrays, or tiles, step by step.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// The limits of short loops.
struct UnrollLimits {
  int64_t rounds;     ///< maximum of iterations
  int64_t operations; ///< maximum of operations in all iterations together
};
/// Larger loops would take longer to compile than the passes over memory take.
inline constexpr UnrollLimits kUnrolledOnCpu = {32, 512};
/// Each iteration has buffers of its own, which must fit on chip together.
inline constexpr UnrollLimits kUnrolledOnChip = {8, 512};

/// `for i in 0..3 { acc = acc + x[i:i + N] * w[i] }` would pass over memory in each iteration. If
/// the numbers of the iterations are known and few, and an iteration only computes elements of
/// arrays from elements of arrays, the loop is unrolled, so that one grid computes all iterations.
void unrollSteps(mlir::func::FuncOp function, const UnrollLimits &limits);

/// The same in grids that an author wrote, where rounds read boxes of one array that have rows in common: `load(x[i + dy, j], outside: 0.0)`
/// in a loop along `dy` loads all rows anew in each round, but boxes beside each other are loaded once (`share_rows`).
void unrollStencils(mlir::func::FuncOp function, const UnrollLimits &limits);

} // namespace ptl::ir
