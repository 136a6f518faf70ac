// Allocates memory for arrays: scratch of the present thread, and memory that all threads share.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Dense elements at an address.
View denseView(Lowering &l, mlir::Type element, mlir::Value data, const Values &extents);
/// Dense scratch of the present thread; in code of a program, memory that tasks may use for longer.
View allocate(Lowering &l, mlir::Type element, const Values &extents);
/// Dense memory that all threads share.
View allocateShared(Lowering &l, mlir::Type element, const Values &extents);
/// Runs `body`, and releases the scratch that it allocates at the end.
void withScratchScope(Lowering &l, llvm::function_ref<void()> body);
/// Releases what a block of a program has allocated, at its end: all of `owned` since `from`.
void releaseOwned(Lowering &l, size_t from);

} // namespace ptl::cpu
