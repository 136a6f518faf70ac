// Windows into tiles.
#pragma once

#include "ir/dialect/pto_dialect.h"

namespace ptl::pto {

/// Whether bytes of other elements lie between those of a tile, since it is a window narrower than
/// its buffer. An alias with another shape or element type would take them for its own.
inline bool hasGaps(mlir::Value tile) {
  auto window = tile.getDefiningOp<SubsetOp>();
  if (!window)
    return false;
  TileBufType buffer = window.getSource().getType(), type = window.getType();
  bool isBoxed = type.getLayout().inner != Layout::None;
  if (isBoxed && (type.getRows() != buffer.getRows() || type.getCols() != buffer.getCols()))
    return true;
  bool byRows = type.getLayout().box == Layout::RowMajor;
  // One line has nothing in between.
  if (!isBoxed && (byRows ? type.getRows() : type.getCols()) == 1)
    return false;
  bool isNarrower =
      byRows ? type.getCols() != buffer.getCols() : type.getRows() != buffer.getRows();
  return isNarrower || hasGaps(window.getSource());
}

} // namespace ptl::pto
