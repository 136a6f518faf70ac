// Builds tiles of manual kernels: their types, slots of rotating ones, windows.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

struct ValidPart {
  mlir::Value rows, cols; ///< null where the type says it
};

/// The type of a tile, with the valid part that the checker knows.
pto::TileBufType tileType(BuildContext &c, const Type &type);
/// The lengths of the valid part that are not numbers.
ValidPart validPart(BuildContext &c, const Type &type);
mlir::Value buildSlot(BuildContext &c, const BlockExpr &slot, pto::TileBufType type,
                      const ValidPart &valid);
mlir::Value buildWindow(BuildContext &c, const BlockExpr &window);

} // namespace ptl::ir
