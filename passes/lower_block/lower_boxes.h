// Lowers boxes of global memory that are not matrices: row by row, or element by element.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The box of a load or store in global memory, by axes. Nothing after an error.
std::optional<GlobalBox> globalBox(KernelContext &c, Operation *op, const BoxOperands &in,
                                   Type boxType);
/// The number of elements in front of the one at these positions of the box.
Value elementAt(KernelContext &c, const GlobalBox &box, Indices at);
/// A matrix in global memory that begins `element` elements after the pointer.
Value matrixView(KernelContext &c, Value pointer, Value element, Value rows, Value cols,
                 Value rowStride, Type type);
/// One element of global memory as a scalar of `type`.
Value readGlobal(KernelContext &c, Value pointer, Value element, Type type);
/// Whether the elements of each row of a box lie side by side, in memory and in the tile.
bool liesInRows(const GlobalBox &box, const ShapedTile &to);
/// Loads a box all of whose elements are there, in the fastest way that its strides and the machine permit.
void loadPresent(KernelContext &c, const GlobalBox &box, const ShapedTile &to);
/// Loads a box that is not a matrix.
void loadBox(KernelContext &c, Operation *op, const BoxOperands &in);
/// Lowers a `take` from a box that stays in global memory.
void takeGlobal(KernelContext &c, Operation *op, Operation *box);
/// Whether a step or a stride is 1; an absent one is.
bool isUnit(Value step);

} // namespace ptl::block
