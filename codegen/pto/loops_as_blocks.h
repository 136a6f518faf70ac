// Loops that decide while they run whether they go on, for versions of PTOAS that make too little
// of them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// Whether a version of PTOAS without `NestedWhile` fails on the whiles of a function: it cannot
/// have loops and branches inside one that itself stands in a loop or a branch, nor results that
/// are used inside of others.
bool needsBlocks(mlir::func::FuncOp function);

/// Makes basic blocks of the whiles of a function and of what they stand in; everything else stays.
void makeBlocks(mlir::func::FuncOp function);

} // namespace ptl::pto
