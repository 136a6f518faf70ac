// Reductions.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a reduction. Returns false, and emits nothing, for other operations.
bool produceReduction(Lowering &l, mlir::Operation *op, const View &dest);
/// Writes the results of several reductions along the same axes, of operands with the same extents, in one pass over these. Returns false,
/// and emits nothing, where each is better off alone.
bool reduceTogether(Lowering &l, llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<View> dests);
/// The result of a reduction to a scalar; null for other operations.
mlir::Value reducedScalar(Lowering &l, mlir::Operation *op);

/// Elements that cost more than this are computed one vector at a time.
constexpr int64_t kCheapToFold = 6;

/// The positions of `count` rows along an axis. What varies only with the row is emitted once for each row, not for each vector.
Values rowsFrom(Lowering &l, mlir::Value operand, Coords &at, int64_t axis, mlir::Value first,
                int64_t count);

/// The last of the axes that has several positions, along which lanes may lie.
std::optional<int64_t> lastOfSeveral(const Values &extents, llvm::ArrayRef<int64_t> axes);
/// What short rows are: of up to so many elements, and of more where there are as many rows as a
/// vector has lanes.
struct ShortRows {
  int64_t ofAny, ofMany;
};
/// Emits `shortRows`, which takes a vector of rows at a time, for rows of such a length, and
/// `everyRow` for others and empty ones; both with a branch where the length is not known.
void whereShort(Lowering &l, ShortRows limits, mlir::Value length, mlir::Value rows,
                llvm::function_ref<void()> shortRows, llvm::function_ref<void()> everyRow);
/// Goes through the rows at all positions of the `kept` axes, a vector of those that lie along `beside`, one of these axes, at a time.
void forShortRows(Lowering &l, const Values &extents, llvm::ArrayRef<int64_t> kept, int64_t beside,
                  Coords &at, llvm::function_ref<void(Coords &)> each);

} // namespace ptl::cpu
