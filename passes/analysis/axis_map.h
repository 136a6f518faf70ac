// Maps the axes of an operation's result to axes of its operands. A group of operations can be
// tiled along an axis if each of them computes a part of its result from the corresponding part of
// its operands.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace ptl::ir {

/// For each axis of a value the corresponding axis of the group's root, or `kWhole` if the axis is
/// needed whole.
using AxisMap = llvm::SmallVector<int64_t, 4>;
inline constexpr int64_t kWhole = -1;

/// The maps of all array operands of `op` (empty ones for scalars), given the map of its result; an
/// operation with several results has one map for all of them. Nothing if `op` cannot compute a
/// part of its result along one of the mapped axes.
std::optional<llvm::SmallVector<AxisMap>> operandAxes(mlir::Operation *op, const AxisMap &result);

/// The map of a slice's source, if the slice only drops axes of extent 1; nothing for other slices.
std::optional<AxisMap> axesBeforeDrop(SliceOp slice, const AxisMap &result);

/// Whether the operation only drops axes of extent 1 of what arithmetic computes, as of a reduction with `keep: false`.
bool dropsFromTiles(mlir::Operation *op);

} // namespace ptl::ir
