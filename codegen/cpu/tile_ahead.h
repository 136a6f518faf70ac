// Tiles and rows are fetched from memory while others are computed.
//
// A tile that is gone through several times, as the rows of a softmax, is read from memory by the first pass alone, while the passes
// behind it only compute. So those of them that compute much, or all where vectors are wide, ask for the elements of the tile that is
// next, which the first pass then finds in a cache.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Says where the elements of the next tile are, if `offsets` are those of a part of `base` that moves with the grid.
mlir::Value aheadOf(Lowering &l, const View &base, mlir::ValueRange offsets);

/// Begins a pass over the elements of values: what has been read so far has been read before.
void beginPass(Lowering &l, mlir::ValueRange values);

/// What a row fetches of itself while several rows are read side by side: more streams than a processor keeps up with by itself.
inline constexpr int64_t kRowBytesAhead = 1024;

/// Emits loads that fetch what comes later in their rows; `vector` is the number of the vector among those of one step, since each
/// line is asked for once.
void fetchingRows(Lowering &l, size_t vector, llvm::function_ref<void()> emit);

/// At a load of consecutive lanes from `pointer`: fetches what is as far in the next tile, if the pass is not the first
/// one and computes much, or what comes later in the row.
void fetchAhead(Lowering &l, const View &view, mlir::Value pointer);

} // namespace ptl::cpu
