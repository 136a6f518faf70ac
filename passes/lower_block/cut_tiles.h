// Tiles that are too large for the memories of a core, computed in parts: along an axis whose
// positions all operations of a grid keep apart, each part is a smaller tile of its own.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// An axis of tiles, by the name of its length.
struct TileAxis {
  mlir::StringAttr name;
  int64_t capacity = 0;
  explicit operator bool() const { return static_cast<bool>(name); }
};

/// Whether every operation of the grid that has tiles along the axis computes each of its positions
/// by itself.
bool keepsApart(ir::ParallelOp grid, mlir::StringAttr axis);

/// Every tile along the axis as `parts` tiles of a multiple of `unit` positions, which follow each
/// other inside loops: what does not have the axis is loaded once for all of them. Operations
/// between two products are done part by part, so that a part is handed on before the next is
/// begun. The new grid; the old one is gone. Null, and nothing changes, if that cannot be.
ir::ParallelOp cutInsideLoops(ir::ParallelOp grid, const TileAxis &axis, int64_t parts,
                              int64_t unit);

/// A loop over parts of the axis around all that a point of the grid does with it. What does not
/// have the axis is loaded again for each part. `buffers`: slots of what a part loads.
ir::ParallelOp cutPoints(ir::ParallelOp grid, const TileAxis &axis, int64_t parts, int64_t unit,
                         int64_t buffers);

} // namespace ptl::block
