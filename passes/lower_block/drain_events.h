// Drains events that a manual kernel leaves set.
#pragma once

#include "passes/lower_block/lower_manual.h"

namespace ptl::block {

/// Adds waits for events that may still be set at the end of a point, or of the function. Where it
/// is not certain that a wait follows a signal, signals are counted at run time.
void drainEvents(mlir::func::FuncOp function, const Machine &machine, const Report &report);

/// Removes the waits that `drainEvents` has added, and what only they use: text of the block level
/// has none of them, because they are added again when it is read. A loop over the points of a core
/// group that had them at the end of each becomes one over all points, marked by `ptl.point`.
void removeDrains(mlir::func::FuncOp function);

} // namespace ptl::block
