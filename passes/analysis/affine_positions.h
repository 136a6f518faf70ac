// Arrays of positions that count along an axis: which parts of the axis they are.
#pragma once

#include "passes/analysis/linear_number.h"

#include <optional>

namespace ptl::ir {

/// Neighbouring elements of an array of positions: element `p` is `base + step * p`, from `begin` to where the next run begins.
struct PositionRun {
  Linear begin, base;
  int64_t step = 0;
};

/// The elements of an array of positions in runs, which come one after the other.
struct AffinePositions {
  llvm::SmallVector<PositionRun> runs;
  Linear length; ///< of the array: where the last run ends
  /// The runs are right where all of these are at least 0; elsewhere nothing is said.
  llvm::SmallVector<Linear> needed;
};

/// The runs of `(index(0..N) + c) % N`, `clamp(index(0..N) - 1, 0, N - 1)`, and what else sums, multiples, limits and remainders make of the numbers
/// from 0 on. Numbers of which nothing is known are computed where the builder is. Positions count as lying inside of their axis, as
/// `ptl.take` has them. Nothing, if the array is no such one.
std::optional<AffinePositions> affinePositionsOf(mlir::OpBuilder &builder, mlir::Value positions);

} // namespace ptl::ir
