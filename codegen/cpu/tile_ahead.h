// Prefetches tiles and rows from memory while others are computed.
//
// A tile that is gone through several times, as the rows of a softmax, is read from memory by the first pass alone, while the passes
// behind it only compute. So those of them that compute much, or all where vectors are wide, ask for the elements of the tile that is
// next, which the first pass then finds in a cache.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Returns `View::ahead`, the distance to the next tile's elements, if `offsets` are those of a
/// part of `base` that moves with the grid.
mlir::Value aheadOf(Lowering &l, const View &base, mlir::ValueRange offsets);

/// Begins a loop over the elements of values: what has been read so far counts as read before.
void beginPass(Lowering &l, mlir::ValueRange values);

/// How far ahead a row is prefetched, in bytes. The hardware prefetcher does not follow as many
/// streams as there are where several rows are read side by side, and brings what a single row needs
/// to the second cache alone.
inline constexpr int64_t kRowBytesAhead = 1024;

/// Runs `emit`, whose loads prefetch later elements of their rows. `vector` is the number of the
/// vector within one step; it serves to prefetch each cache line once.
void fetchingRows(Lowering &l, RowFetch how, size_t vector, llvm::function_ref<void()> emit);

/// At a load of consecutive lanes from `pointer`, prefetches the same element of the next tile, if
/// this loop is not the tile's first and computes much, or a later element of the row.
void fetchAhead(Lowering &l, const View &view, mlir::Value pointer);

} // namespace ptl::cpu
