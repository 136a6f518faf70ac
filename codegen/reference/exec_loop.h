// Executes loops.
#pragma once

#include "codegen/reference/exec.h"

namespace ptl::reference {

/// `for`: ends early by `break`; `Flow::Return` when its body returns, else `Flow::Next`.
Flow execFor(RunState &run, const ForStmt &stmt);

/// `while`: ends as `for` does.
Flow execWhile(RunState &run, const WhileStmt &stmt);

/// `parallel`: runs in order, or in an order drawn from the seed of the options; what it computes
/// must not depend on it.
void execParallel(RunState &run, const ParallelStmt &stmt);

} // namespace ptl::reference
