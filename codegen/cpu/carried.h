// Arrays that loops and branches carry: each has one buffer.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Allocates the buffer for a value that a region carries, and fills it with the initial value.
View carriedBuffer(Lowering &l, mlir::Operation *op, mlir::Value initial);
/// Writes the yielded values of a region to the buffers of the values it carries, in place unless
/// that would overwrite something that is read later. Returns the scalars among the values, which
/// have no buffer.
void yieldInto(Lowering &l, mlir::Operation *yield, mlir::ValueRange values,
               llvm::ArrayRef<std::optional<View>> buffers, Values &scalars);

} // namespace ptl::cpu
