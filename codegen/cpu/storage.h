// Allocates memory for arrays: scratch of one thread, and memory that all threads share.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A view of contiguous elements at an address.
View denseView(Lowering &l, mlir::Type element, mlir::Value data, const Values &extents);
/// Contiguous scratch of the present thread; in the program's own code, memory that tasks may use
/// for longer.
View allocate(Lowering &l, mlir::Type element, const Values &extents);
/// Contiguous memory that all threads share.
View allocateShared(Lowering &l, mlir::Type element, const Values &extents);
/// Runs `body`; the scratch that it allocates is released at the end.
void withScratchScope(Lowering &l, llvm::function_ref<void()> body);
/// Releases at the end of a program's block what the block has allocated: all entries of `owned`
/// since `from`.
void releaseOwned(Lowering &l, size_t from);

} // namespace ptl::cpu
