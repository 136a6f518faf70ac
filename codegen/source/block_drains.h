// Kernels without the waits that are added when their text is read.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::source {

/// Removes the waits that were added for events that are left set, and what only they use: text of the block level
/// has none of them, because they are added again when it is read. A loop over the points of a core
/// group that had them at the end of each becomes one over all points, marked by `ptl.point`.
void removeDrains(mlir::func::FuncOp function);

} // namespace ptl::source
