// Operations that move elements: views and permutations of other arrays, elements computed from
// their position, and the producers that assemble arrays from parts.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The result of the operation as a view of its source; nothing if it cannot be one, or the source
/// has no view.
std::optional<View> viewOfOp(Lowering &l, mlir::Operation *op);
/// For an operation that only reorders elements: the operand and the coordinates that an element
/// comes from.
std::optional<std::pair<mlir::Value, Coords>> sourceOf(Lowering &l, mlir::Operation *op,
                                                       unsigned result, const Coords &at);
/// The element of a constant, a count, a triangle, a reshape …; `handled` becomes false for other
/// operations.
mlir::Value shapeElement(Lowering &l, mlir::Operation *op, unsigned result, const Coords &at,
                         bool &handled);
/// Writes a reshape in the memory order of its source. Returns false, and emits nothing, if the
/// axes of `dest` cannot be merged and split accordingly. `streamed` is as for `evaluateInto`.
bool produceReshape(Lowering &l, ir::ReshapeOp op, const View &dest, mlir::Value streamed);
/// Writes concatenations, padded arrays and the like. Returns false, and emits nothing, for other
/// operations.
bool produceShape(Lowering &l, mlir::Operation *op, llvm::ArrayRef<View> dests);

} // namespace ptl::cpu
