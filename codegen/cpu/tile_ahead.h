// Tiles are fetched from memory while others are computed.
//
// A tile that is gone through several times, as the rows of a softmax, is read from memory by the first pass alone, while the passes
// behind it only compute. So those of them that compute much ask for the elements of the tile that is next, which the first pass then finds in a cache.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Says where the elements of the next tile are, if `offsets` are those of a part of `base` that moves with the grid.
mlir::Value aheadOf(Lowering &l, const View &base, mlir::ValueRange offsets);

/// Begins a pass over the elements of values: what has been read so far has been read before.
void beginPass(Lowering &l, mlir::ValueRange values);

/// At a load of consecutive lanes from `pointer`: fetches what is as far in the next tile, if the pass is not the first
/// one and computes much.
void fetchAhead(Lowering &l, const View &view, mlir::Value pointer);

} // namespace ptl::cpu
