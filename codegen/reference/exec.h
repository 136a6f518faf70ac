// Executes statements of the checked tree.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// How control leaves a statement.
enum class Flow : uint8_t { Next, Break, Continue, Return };

/// Executes the statements of a block up to the first that does not end in `Flow::Next`, and
/// returns how that one ends. The value of the block is not evaluated.
Flow exec(RunState &run, const Block &block);

/// Executes a statement, and reports it to the observer. After `Flow::Return` the frame holds the
/// returned value.
Flow exec(RunState &run, const Stmt &stmt);

} // namespace ptl::reference
