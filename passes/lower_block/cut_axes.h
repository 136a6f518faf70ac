// Where the operations of a grid say an axis of their tiles, and whether tiles can be cut along it.
#pragma once

#include "passes/lower_block/cut_tiles.h"

#include <optional>

namespace ptl::block {

bool hasAxis(mlir::Type type, mlir::StringAttr axis);

/// Whether a value has parts. Values from outside the grid are in global memory and stay whole.
bool isCut(mlir::Value value, ir::ParallelOp grid, mlir::StringAttr axis);

/// The operands of a load, slice or store that hold the offset and length of one axis of its box.
struct BoxAxis {
  unsigned offset = 0, length = 0; ///< operand indices
  bool moves = true;               ///< the offset counts from the start of the axis
};

/// The operands of the box axis that becomes axis `name` of `tile`; nullopt if no axis of the box
/// does, or if the box has steps.
std::optional<BoxAxis> boxAxis(mlir::Operation *op, mlir::Type tile, mlir::StringAttr name);

/// The index of the operand that is the length `name`, if the operands are lengths.
std::optional<unsigned> madeLength(mlir::Operation *op, mlir::StringAttr name);

/// Whether `op` concatenates the parts of what it reads to a value that stays whole.
bool joins(mlir::Operation *op, const WholeValues &whole);

/// Whether every operation of the grid on tiles with the axis, except on those that stay whole,
/// computes each position along the axis separately.
bool keepsApart(ir::ParallelOp grid, mlir::StringAttr axis, const WholeValues &whole);

} // namespace ptl::block
