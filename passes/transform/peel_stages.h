// Peels loops in two stages, to remove their branches: code that only the first iterations execute
// moves in front of the loop, and code that only the last ones execute moves behind it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// Rewrites loops in two stages (`ptl.stage`), in place. Such a loop has n additional iterations,
/// and its body is `if variable < end { stage 0 } ; if variable >= begin + n * step { stage 1 }`.
/// For n = 1 it becomes `if begin < end { stage 0 of the first iteration ; for the others { both }
/// ; stage 1 of the last }`, for larger n `for the first { stage 0 } ; for the others { both } ;
/// for the last { stage 1 }`. Instructions run in the same order. Buffers already have addresses,
/// and copies of operations keep them.
void peelStages(mlir::func::FuncOp function);

} // namespace ptl::pto
