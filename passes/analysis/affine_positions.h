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

/// A vector of lanes so many elements apart does not reach half of the numbers of 32 bits.
inline constexpr int64_t kMostEvenStep = int64_t(1) << 20;

/// Whether an array holds integers that are a number and, along each axis, a constant multiple of the coordinate: sums, differences and
/// multiples of positions (`index`), and views of such. They are computed where they are needed faster than they are loaded.
bool arePositionsEven(mlir::Value array);

} // namespace ptl::ir
