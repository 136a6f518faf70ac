// Builds tiles of manual kernels: their types, slots of rotating buffers, windows.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

struct ValidPart {
  mlir::Value rows, cols; ///< null if the type states it
};

/// The type of a tile, with the valid extents that the checker knows.
pto::TileBufType tileType(BuildContext &c, const Type &type);
/// The valid extents that are not constants.
ValidPart validPart(BuildContext &c, const Type &type);
mlir::Value buildSlot(BuildContext &c, const BlockExpr &slot, pto::TileBufType type,
                      const ValidPart &valid);
mlir::Value buildWindow(BuildContext &c, const BlockExpr &window);
/// Builds a `treshape` or `bitcast`. A window between whose rows other elements lie has another valid
/// part at most; another shape or element type of it is reported.
mlir::Value buildAlias(BuildContext &c, const BlockExpr &alias);

} // namespace ptl::ir
