// Arrays that loops and branches hand on: each has one buffer.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Memory for what a region carries, filled with the initial value.
View carriedBuffer(Lowering &l, mlir::Operation *op, mlir::Value initial);
/// Moves what a region yields to the memory of what it carries, in place where it reads nothing
/// that is overwritten before. Gives the scalars among the values, which have no buffer.
void yieldInto(Lowering &l, mlir::Operation *yield, mlir::ValueRange values,
               llvm::ArrayRef<std::optional<View>> buffers, Values &scalars);

} // namespace ptl::cpu
