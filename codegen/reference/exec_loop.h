// Executes loops.
#pragma once

#include "codegen/reference/exec.h"

namespace ptl::reference {

/// `for`: `break` ends it early; returns `Flow::Return` if its body returns, else `Flow::Next`.
Flow execFor(RunState &run, const ForStmt &stmt);

/// `while`: ends like `for`.
Flow execWhile(RunState &run, const WhileStmt &stmt);

/// `parallel`: runs in order, or in an order drawn from the seed of the options; results must not
/// depend on the order.
void execParallel(RunState &run, const ParallelStmt &stmt);

} // namespace ptl::reference
