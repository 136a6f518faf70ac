// The search for the position of the largest or smallest element (argmax, argmin).
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Hands each result of a search to `store`, with its place in the result.
void searchInto(Lowering &l, mlir::Operation *op, bool larger,
                llvm::function_ref<void(const Coords &, mlir::Value)> store);

} // namespace ptl::cpu
