// Rewrites `while` loops for versions of PTOAS that cannot translate all of them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// Whether a version of PTOAS without `NestedWhile` fails on the `while` loops of a function: it
/// cannot translate loops and branches inside a `while` that is itself inside a loop or a branch,
/// nor results of a `while` that are used inside other loops.
bool needsBlocks(mlir::func::FuncOp function);

/// Converts the `while` loops of a function, and the loops and branches around them, to basic
/// blocks; everything else is unchanged.
void makeBlocks(mlir::func::FuncOp function);

} // namespace ptl::pto
