// Buffers of the arrays that loops and branches carry: one for each array.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Allocates the buffer for a value that a region carries, and fills it with the initial value.
View carriedBuffer(Lowering &l, mlir::Operation *op, mlir::Value initial);
/// Writes the yielded values of a region to the buffers of its carried values. A value is computed
/// in place unless that would overwrite elements that are read later. Returns the scalars among the
/// values, which have no buffer.
void yieldInto(Lowering &l, mlir::Operation *yield, mlir::ValueRange values,
               llvm::ArrayRef<std::optional<View>> buffers, Values &scalars);

} // namespace ptl::cpu
