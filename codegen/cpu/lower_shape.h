// Operations that move elements: views and reorderings of others, elements that depend on their
// position, and the producers that assemble arrays.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The view of the operation's result if it is a view of its source, and the source has a view;
/// otherwise nothing.
std::optional<View> viewOfOp(Lowering &l, mlir::Operation *op);
/// The operand and coordinates that an element of a pure reordering comes from.
std::optional<std::pair<mlir::Value, Coords>> sourceOf(Lowering &l, mlir::Operation *op,
                                                       unsigned result, const Coords &at);
/// The element of a constant, a count, a triangle, a reshape …; `handled` is false if the operation
/// is none of these.
mlir::Value shapeElement(Lowering &l, mlir::Operation *op, unsigned result, const Coords &at,
                         bool &handled);
/// Writes a reshape in the order of its source, if the axes of `dest` can be put together and split as
/// that takes; else nothing is done and the result is false. `streamed` is as for `evaluateInto`.
bool produceReshape(Lowering &l, ir::ReshapeOp op, const View &dest, mlir::Value streamed);
/// Writes concatenations, padded arrays and the like. False if the operation is none of these.
bool produceShape(Lowering &l, mlir::Operation *op, llvm::ArrayRef<View> dests);

} // namespace ptl::cpu
