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
/// Loads a box that is not a matrix.
void loadBox(KernelContext &c, Operation *op, const BoxOperands &in);
/// Lowers a `take` from a box that stays in global memory.
void takeGlobal(KernelContext &c, Operation *op, Operation *box);
/// Whether a step or a stride is 1; an absent one is.
bool isUnit(Value step);

} // namespace ptl::block
