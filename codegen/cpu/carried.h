// Buffers of the arrays that loops and branches carry: one for each array.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Allocates the buffer for a value that a region carries, and fills it with the initial value.
View carriedBuffer(Lowering &l, mlir::Operation *op, mlir::Value initial);
/// Whether a value, which may still be to be computed, reads no element of the memory of this view.
bool readsNothingOf(Lowering &l, mlir::Value value, const View &view);
/// Writes the yielded values of a region to the buffers of its carried values. A value is computed
/// in place unless that would overwrite elements that are read later. Returns the scalars among the
/// values, which have no buffer.
void yieldInto(Lowering &l, mlir::Operation *yield, mlir::ValueRange values,
               llvm::ArrayRef<std::optional<View>> buffers, Values &scalars);

} // namespace ptl::cpu
