// Drains events that a manual kernel leaves set.
#pragma once

#include "passes/lower_block/lower_manual.h"

namespace ptl::block {

/// Adds waits for events that may still be set at the end of a point, or of the function. Where it
/// is not certain that a wait follows a signal, signals are counted at run time.
void drainEvents(mlir::func::FuncOp function, const Machine &machine, const Report &report);

} // namespace ptl::block
