// Removes the branches of loops in two stages: code that only the first iteration executes moves
// before the loop, and code that only the last one executes moves behind it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// Of loops that are made in two stages (`ptl.stage`), whose body is `if variable < end { stage 0 } ;
/// if variable >= begin + n * step { stage 1 }`, with n turns more: `if begin < end { stage 0 of the first turn ; for the others { both } ; stage 1 of the last }`,
/// and of several turns: `for the first { stage 0 } ; for the others { both } ; for the last {
/// stage 1 }`.
/// In place; the order in which instructions run stays the same. For buffers that are placed: those
/// of copies keep their addresses.
void peelStages(mlir::func::FuncOp function);

} // namespace ptl::pto
