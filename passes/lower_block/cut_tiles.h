// Processes tiles that exceed the memories of a core in parts. The axis that is cut is one whose
// positions no operation of the grid combines, so each part is an independent smaller tile.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/DenseSet.h"

namespace ptl::block {

/// An axis of tiles, identified by the name of its length.
struct TileAxis {
  mlir::StringAttr name;
  int64_t capacity = 0;
  explicit operator bool() const { return static_cast<bool>(name); }
};

/// Whether every operation of the grid with tiles along the axis computes each position of it
/// independently.
bool keepsApart(ir::ParallelOp grid, mlir::StringAttr axis);

/// Values that have the axis that is cut, and stay whole.
using WholeValues = llvm::DenseSet<mlir::Value>;

/// Cuts every tile along the axis into `parts` tiles of a multiple of `unit` positions, which
/// follow each other inside loops; tiles without the axis are loaded once for all of them.
/// Operations between two products are executed part by part, so that a part is passed on before
/// the next is begun. Returns the new grid, and erases the old one; returns null, with nothing
/// changed, if that is impossible. `whole` are values that are not cut: a slice of one is cut, and
/// a `concat` with one operand that makes one joins the parts of that operand.
ir::ParallelOp cutInsideLoops(ir::ParallelOp grid, const TileAxis &axis, int64_t parts,
                              int64_t unit, const WholeValues &whole = {});

/// Makes a loop over parts of the axis around everything that a point of the grid does with it.
/// Tiles without the axis are loaded again for each part. `buffers` is the number of slots of a
/// part's loads.
ir::ParallelOp cutPoints(ir::ParallelOp grid, const TileAxis &axis, int64_t parts, int64_t unit,
                         int64_t buffers);

} // namespace ptl::block
