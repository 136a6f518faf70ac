// Lowers operations whose positions are data, and moves by the instruction that gathers where windows of a buffer cannot:
// those begin at whole blocks and have contiguous rows.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers `take`: whole rows of a tile, or of an array in global memory, by one position each.
void lowerTake(KernelContext &c, mlir::Operation *op);
/// Lowers `gather`: one position for each element of the result.
void lowerGather(KernelContext &c, mlir::Operation *op);
/// Lowers `scatter`: one position for each element of the value.
void lowerScatter(KernelContext &c, mlir::Operation *op);

/// Column `to + n` of each row gets column `from + step * n` of the same row of another tile.
struct ColumnMove {
  Value from, to, length;
  int64_t step = 1;
};
/// Moves columns between tiles with the same rows. False, and nothing is emitted, if the machine or the forms of the
/// tiles do not permit it.
bool gatherColumns(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                   const ColumnMove &move, Location loc);

/// Fills each element from the position that `index`, a tile of the shape of `to`, has for it: a column of its own row,
/// or with `alongRows` a row of its own column. False as above.
bool gatherEach(KernelContext &c, const ShapedTile &from, const ShapedTile &index,
                const ShapedTile &to, bool alongRows, Location loc);

/// Fills a tile with another one whose axes stand in another order: axis n of `to` is axis `axes[n]` of `from`. False as
/// above.
bool gatherPermuted(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                    llvm::ArrayRef<int64_t> axes, Location loc);

/// Fills a tile with the elements of one of another shape, in row-major order. False as above.
bool gatherReshaped(KernelContext &c, const ShapedTile &from, const ShapedTile &to, Location loc);

/// Fills column n of each row from the column that element n of the row `index` names. False as above.
bool gatherListed(KernelContext &c, const ShapedTile &from, const ShapedTile &index,
                  const ShapedTile &to, Location loc);

/// Whether `gatherFirst` takes this element type.
bool gathersFirst(KernelContext &c, mlir::Type element);
/// Fills the row `to` from the first elements of the rows of `from`, whose padding may be anything.
void gatherFirst(KernelContext &c, const Tile &from, const Tile &to, Location loc);

} // namespace ptl::block
